#!/usr/bin/env python3
"""A switch whose frames take their time, for kernels without netem:  delayed_switch.py DELAY_MS DEVICE…

Makes a TAP device for each name and says "ready"; what one sends reaches all others DELAY_MS later. The devices, which
may be moved to other network namespaces, vanish with the program."""
import collections
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000

delay = float(sys.argv[1]) / 1000
ports = []
for name in sys.argv[2:]:
    port = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(port, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    ports.append(port)
print("ready", flush=True)

waiting = collections.deque()  # (due time, source port, frame)
while True:
    patience = None if not waiting else max(0.0, waiting[0][0] - time.monotonic())
    for port in select.select(ports, [], [], patience)[0]:
        try:
            waiting.append((time.monotonic() + delay, port, os.read(port, 65536)))
        except OSError:  # the device is down, or there is nothing to read after all
            time.sleep(0.001)
    while waiting and waiting[0][0] <= time.monotonic():
        _, source, frame = waiting.popleft()
        for port in ports:
            if port != source:
                try:
                    os.write(port, frame)
                except OSError:  # the other side is not up yet, or full: a switch drops the frame
                    pass
