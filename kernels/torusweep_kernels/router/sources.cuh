// Generation of packets and messages, and source queues: see reference_sources.py.
struct Sources : View {
    // Append what is generated in this cycle to the source queue.
    __device__ void generate() {
        Node& here = self();
        if (has_messages) {
            file_added(here);
            for (; here.awaited >= 0 && messages[here.awaited].ready <= t; here.awaited = messages[here.awaited].link) {
                Message& message = messages[here.awaited];
                message.generated = t;
                for (int k = 0; k < message.packets; ++k) line[here.behind++] = message.begin + k;
            }
        } else {
            int behind = here.behind, coming = here.coming;
            const int before = coming, end = here.end;
            for (; coming < end && packets[coming].time <= t; ++coming) line[behind++] = coming;
            if (coming == before) return;
            here.behind = behind;
            here.coming = coming;
        }
    }

    // Fill empty injection VCs from the source queue, and refuse the packets that exceed its bound.
    __device__ void refill() {
        Node& here = self();
        int taken = here.taken, behind = here.behind;
        if (taken == behind) return;
        for (int v = 0; v < vcs; ++v) {
#pragma unroll 1  // a node has few such ports
            for (int i = transit; i < inputs; ++i) {
                if (taken == behind || port(i).there >> v & 1) continue;
                const int packet = line[taken++];
                vc(i, v).count = packets[packet].length;
                begin_routing(i, v, packet);
            }
        }
        here.taken = taken;
        if (source_queue < 0) return;
        for (; behind - taken > source_queue; --behind) {
            packets[line[behind - 1]].entered = REFUSED;
            atomicSub(&experiment().undelivered, 1);
        }
        here.behind = behind;
    }

    // Sort added messages into the list of awaited ones. Threads that are ahead may already have added messages in this
    // cycle. Those are generated in the next cycle or later, and their place in the list does not depend on when they
    // were added.
    __device__ void file_added(Node& here) {
        if (*(volatile int*)&here.added < 0) return;
        int message = atomicExch(&here.added, -1);
        __threadfence();
        while (message >= 0) {
            const int next = messages[message].link, ready = messages[message].ready;
            int* place = &here.awaited;
            while (*place >= 0 &&
                   (messages[*place].ready < ready || (messages[*place].ready == ready && *place < message))) {
                place = &messages[*place].link;
            }
            messages[message].link = *place;
            *place = message;
            message = next;
        }
    }

    // Tell the messages that wait for this one that it is delivered, as known from cycle `known` on. A message without
    // packets is delivered as soon as it waits for no other, and releases its successors at once, from a stack.
    __device__ void release_successors(int message, int known) {
        for (int stack = -1;;) {
            for (long long i = after[message]; i < after[message + 1]; ++i) {
                const int other = successor[i];
                Message& there = messages[other];
                atomicMax(&there.ready, known < NEVER - there.delay ? known + there.delay : NEVER);
                __threadfence();  // a thread that finds none missing also reads the latest cycle
                if (atomicSub(&there.missing, 1) > 1) continue;
                __threadfence();
                if (there.packets == 0) {
                    there.link = stack;
                    stack = other;
                } else {
                    add(other);
                }
            }
            if (stack < 0) return;
            message = stack;
            stack = messages[message].link;
            known = messages[message].generated = *(volatile int*)&messages[message].ready;
        }
    }

    __device__ void add(int message) {
        int* const added = &node_at(messages[message].node).added;
        int before = *(volatile int*)added, found;
        for (;; before = found) {
            *(volatile int*)&messages[message].link = before;
            __threadfence();
            found = atomicCAS(added, before, message);
            if (found == before) return;
        }
    }
};
