"""Declare the messages of Chakra's protobuf schema that a workload needs, field by field.

Source: mlcommons/chakra, schema/protobuf/et_def.proto (version 1.0.0). Fields that are not declared here are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

Field = descriptor_pb2.FieldDescriptorProto
PACKAGE = "ChakraProtoMsg"
# possible fields of an attribute's value, of which it has one; lists are not read
VALUES = {
    "double_val": (3, Field.TYPE_DOUBLE),
    "float_val": (5, Field.TYPE_FLOAT),
    "int32_val": (7, Field.TYPE_INT32),
    "int64_val": (9, Field.TYPE_INT64),
    "uint32_val": (11, Field.TYPE_UINT32),
    "uint64_val": (13, Field.TYPE_UINT64),
    "sint32_val": (15, Field.TYPE_SINT32),
    "sint64_val": (17, Field.TYPE_SINT64),
    "fixed32_val": (19, Field.TYPE_FIXED32),
    "fixed64_val": (21, Field.TYPE_FIXED64),
    "sfixed32_val": (23, Field.TYPE_SFIXED32),
    "sfixed64_val": (25, Field.TYPE_SFIXED64),
    "bool_val": (27, Field.TYPE_BOOL),
    "string_val": (29, Field.TYPE_STRING),
}
LONGEST_LENGTH = 5  # bytes of a length of 32 bits, with seven bits per byte
POOL = descriptor_pool.DescriptorPool()


class Damaged(ValueError):
    """An error in bytes that are no Chakra trace. The text says what was expected and what was found."""


def nodes_of(content: bytes) -> Iterator[Any]:
    """Yield a Chakra trace's nodes: messages after their lengths, metadata first. Raises Damaged for other bytes."""
    for number, message in enumerate(_messages(content)):
        try:
            parsed = (NODE if number else METADATA).FromString(message)
        except DecodeError:
            raise Damaged(f"expected message {number} of Chakra's schema, got other bytes") from None
        if number:
            yield parsed


def attributes_of(node: Any) -> dict[str, Any]:
    """Return a node's attributes that have a single value, by name."""
    kinds = ((one, one.WhichOneof("value")) for one in node.attr)
    return {one.name: getattr(one, kind) for one, kind in kinds if kind is not None}


def _messages(content: bytes) -> Iterator[bytes]:
    """Yield the bytes of each message. Before each message, its length has seven bits per byte, lowest first."""
    place = 0
    while place < len(content):
        begin, length = place, 0
        for shift in range(LONGEST_LENGTH):
            if place == len(content):
                raise Damaged(f"expected a length at byte {begin}, got the end of the file")
            length |= (content[place] & 0x7F) << 7 * shift
            place += 1
            if content[place - 1] < 0x80:
                break
        else:
            raise Damaged(f"expected a length at byte {begin}, got a number of more than {LONGEST_LENGTH} bytes")
        if length > len(content) - place:
            raise Damaged(
                f"expected a message of {length:,} bytes at byte {place}, got the last {len(content) - place:,} bytes"
            )
        yield content[place : place + length]
        place += length


def _schema() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="torusweep/chakra.proto", package=PACKAGE, syntax="proto3")
    attribute = file.message_type.add(name="AttributeProto")
    attribute.oneof_decl.add(name="value")
    _declare(attribute, "name", 1, Field.TYPE_STRING)
    for name, (number, kind) in VALUES.items():
        _declare(attribute, name, number, kind).oneof_index = 0
    _declare(file.message_type.add(name="GlobalMetadata"), "version", 1, Field.TYPE_STRING)
    _declare(file.message_type.add(name="IOInfo"), "values", 1, Field.TYPE_STRING)
    node = file.message_type.add(name="Node")
    _declare(node, "id", 1, Field.TYPE_UINT64)
    _declare(node, "name", 2, Field.TYPE_STRING)
    _declare(node, "type", 3, Field.TYPE_INT32)  # an enumeration, on the wire a number
    _declare(node, "ctrl_deps", 4, Field.TYPE_UINT64, many=True)
    _declare(node, "data_deps", 5, Field.TYPE_UINT64, many=True)
    _declare(node, "duration_micros", 7, Field.TYPE_UINT64)
    _declare(node, "inputs", 8, Field.TYPE_MESSAGE).type_name = f".{PACKAGE}.IOInfo"
    _declare(node, "attr", 10, Field.TYPE_MESSAGE, many=True).type_name = f".{PACKAGE}.AttributeProto"
    return file


def _declare(message: Any, name: str, number: int, kind: int, *, many: bool = False) -> Any:
    label = Field.LABEL_REPEATED if many else Field.LABEL_OPTIONAL
    return message.field.add(name=name, number=number, type=kind, label=label)


def _class(name: str) -> Any:
    return message_factory.GetMessageClass(POOL.FindMessageTypeByName(f"{PACKAGE}.{name}"))


POOL.Add(_schema())
METADATA, NODE = _class("GlobalMetadata"), _class("Node")
