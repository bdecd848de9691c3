"""
A network device of this network namespace: what is sent to 198.51.100.2 or 2001:db8::2 arrives at the addresses that end in 1, here,
and replies likewise. Each way takes as many seconds as the argument says. A line on stdin, such as `6 drop`, says what becomes of a
family of addresses: `pass`, `drop`, or `refuse` by ICMP. Prints a line when it is ready and after each line of stdin.
"""
import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
delay = float(sys.argv[1])
device = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"far", IFF_TUN | IFF_NO_PI))
for command in ("addr add 198.51.100.1/24 dev far", "addr add 2001:db8::1/64 dev far nodad", "link set far up"):
    subprocess.check_call(["ip", *command.split()])


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)


def addresses(packet):
    at, size = (12, 4) if packet[0] >> 4 == 4 else (8, 16)
    return at, packet[at : at + size], packet[at + size : at + 2 * size]


def returned(packet):
    """With its addresses exchanged, which changes no checksum."""
    at, source, target = addresses(packet)
    return packet[:at] + target + source + packet[at + 2 * len(source) :]


def refusal(packet):
    """ICMP: the host cannot be reached (IPv4), or there is no route to it (IPv6)."""
    _, source, target = addresses(packet)
    kind, more = (b"\3\1", packet[:28]) if len(source) == 4 else (b"\1\0", packet[:200])
    length = 8 + len(more)
    pseudo = b"" if len(source) == 4 else target + source + struct.pack("!II", length, 58)
    icmp = kind + checksum(pseudo + kind + bytes(6) + more) + bytes(4) + more
    if len(source) == 16:
        return struct.pack("!IHBB", 6 << 28, length, 58, 64) + target + source + icmp
    head = struct.pack("!BBHIBB", 0x45, 0, 20 + length, 0, 64, 1)
    return head + checksum(head + bytes(2) + target + source) + target + source + icmp


policies = {4: "pass", 6: "pass"}
under_way = []
count = 0
print("ready", flush=True)
while True:
    wait = max(0, under_way[0][0] - time.monotonic()) if under_way else None
    ready, _, _ = select.select([device, sys.stdin], [], [], wait)
    if sys.stdin in ready:
        family, _, policy = sys.stdin.readline().strip().partition(" ")
        if not family:
            break
        policies[int(family)] = policy
        print("ready", flush=True)
    if device in ready:
        packet = os.read(device, 65536)
        policy = policies.get(packet[0] >> 4, "drop")
        if policy != "drop":
            count += 1
            response = refusal(packet) if policy == "refuse" else returned(packet)
            heapq.heappush(under_way, (time.monotonic() + delay, count, response))
    while under_way and under_way[0][0] <= time.monotonic():
        os.write(device, heapq.heappop(under_way)[2])
