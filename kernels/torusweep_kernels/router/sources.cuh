// What is generated when, and the source queues: see reference_sources.py.
struct Sources : Sight {
    // What is generated in this cycle joins the source queue.
    __device__ void generate() {
        Node& here = of_node[node];
        if (has_messages) {
            file_added(here);
            for (; here.awaited >= 0 && messages[here.awaited].ready <= t; here.awaited = messages[here.awaited].link) {
                Message& message = messages[here.awaited];
                message.generated = t;
                for (int k = 0; k < message.packets; ++k) line[here.behind++] = message.begin + k;
            }
        } else {
            for (; here.coming < here.end && packets[here.coming].time <= t; ++here.coming) line[here.behind++] = here.coming;
        }
    }

    // Empty injection VCs take packets from the source queue; what it has no room for then is refused.
    __device__ void refill() {
        Node& here = of_node[node];
        if (here.taken == here.behind) return;
        for (int v = 0; v < vcs; ++v) {
            for (int i = transit; i < inputs; ++i) {
                if (here.taken == here.behind || of_port[in(i)].there >> v & 1) continue;
                const int packet = line[here.taken++];
                vc(i, v).count = packets[packet].length;
                bring(i, v, packet);
            }
        }
        if (source_queue < 0) return;
        for (; here.behind - here.taken > source_queue; --here.behind) {
            packets[line[here.behind - 1]].entered = REFUSED;
            atomicSub(undelivered, 1);
        }
    }

    // Messages that have been added come to their places among the awaited. Some may have been so in this cycle, by
    // threads that are ahead: they are generated in the next one at the earliest, and where they stand does not depend
    // on when they came.
    __device__ void file_added(Node& here) {
        if (*(volatile int*)&here.added < 0) return;
        int message = atomicExch(&here.added, -1);
        __threadfence();
        while (message >= 0) {
            const int next = messages[message].link, ready = messages[message].ready;
            int* place = &here.awaited;
            while (*place >= 0 && (messages[*place].ready < ready || (messages[*place].ready == ready && *place < message))) {
                place = &messages[*place].link;
            }
            messages[message].link = *place;
            *place = message;
            message = next;
        }
    }

    // Those that wait for a message know from cycle `known` on that it was delivered. Of a message that waits for no
    // other one any more the cycle is known; a step, delivered then, at once tells those that wait for it: steps that
    // are yet to do so are on a stack.
    __device__ void done(int message, int known) {
        for (int stack = -1;;) {
            for (long long i = after[message]; i < after[message + 1]; ++i) {
                const int other = successor[i];
                Message& there = messages[other];
                atomicMax(&there.ready, known < NEVER - there.delay ? known + there.delay : NEVER);
                __threadfence();  // a thread that reads 0 missing also reads the latest cycle
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
        int* const added = &of_node[messages[message].node].added;
        int before = *(volatile int*)added, found;
        for (;; before = found) {
            *(volatile int*)&messages[message].link = before;
            __threadfence();
            found = atomicCAS(added, before, message);
            if (found == before) return;
        }
    }
};
