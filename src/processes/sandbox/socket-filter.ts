/**
 * A seccomp filter in the kernel's format (struct sock_filter, little endian). It refuses ways out of a sandbox that its file system and network do not
 * close: sockets of every family that the network namespace does not confine (Unix domain sockets, virtual machines), io_uring, which could open them unseen,
 * the kernel's key rings, bpf, and changing the first process, with which all others end. Of `socketpair`, streams and sequenced packets are allowed: they
 * stay connected to each other, whereas a datagram socket sends to any address. Space on disk is not reserved without writing (`fallocate`), which the kernel
 * counts for no process; programs write instead, as on file systems that cannot do it.
 */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const AND = 0x54;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
/** Makes the call fail with `EPERM`. */
const REFUSE = 0x00050001;
/** … with `EOPNOTSUPP`. */
const UNSUPPORTED = 0x0005005f;

const AT_NUMBER = 0;
const AT_ARCHITECTURE = 4;
const AT_FIRST_ARGUMENT = 16;
const AT_SECOND_ARGUMENT = 24;

const AF_UNIX = 1;
/** AF_INET, AF_INET6, AF_NETLINK: the kernel keeps them within their network namespace. */
const CONFINED_FAMILIES = [2, 10, 16];
/** Without the flags in the upper bits. */
const SOCKET_TYPE = 0xf;
/** SOCK_STREAM, SOCK_SEQPACKET. To the kernel, SOCK_RAW is SOCK_DGRAM here. */
const CONNECTED_TYPES = [1, 5];
const FIRST_PROCESS = 1;

interface Calls {
  /** AUDIT_ARCH_… value; calls by another convention are refused, because their numbers differ. */
  readonly architecture: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly fallocate: number;
  readonly ptrace: number;
  readonly process_vm_writev: number;
  /** io_uring_setup, add_key, request_key, keyctl, bpf */
  readonly refused: readonly number[];
}

const CALLS: Readonly<Record<'x64' | 'arm64', Calls>> = {
  x64: {
    architecture: 0xc000003e,
    socket: 41,
    socketpair: 53,
    fallocate: 285,
    ptrace: 101,
    process_vm_writev: 311,
    refused: [425, 248, 249, 250, 321],
  },
  arm64: {
    architecture: 0xc00000b7,
    socket: 198,
    socketpair: 199,
    fallocate: 47,
    ptrace: 117,
    process_vm_writev: 271,
    refused: [425, 217, 218, 219, 280],
  },
};

/** On x64, numbers from here on are calls with 32-bit pointers. */
const X32 = 0x40000000;

/** `sockets_allowed`: whether sockets of all kinds are allowed. */
export function socketFilter(processor: keyof typeof CALLS, sockets_allowed: boolean): Buffer {
  const { socket, socketpair, fallocate, ptrace, process_vm_writev, refused, ...own } = CALLS[processor];
  const of_sockets = sockets_allowed ? [] : [socket, socketpair];
  const sockets = 7 + refused.length + of_sockets.length;
  const pairs = sockets + 2 + CONFINED_FAMILIES.length;
  const processes = pairs + 5 + CONNECTED_TYPES.length;
  const refuse = processes + 4;
  const allow = refuse + 2;
  // Each line: code, value, and the indices of the next line if the comparison holds and if not (default: the following line).
  const lines: readonly (readonly [code: number, value: number, yes?: number, no?: number])[] = [
    [LOAD, AT_ARCHITECTURE],
    [IF_EQUAL, own.architecture, 2, refuse],
    [LOAD, AT_NUMBER],
    [IF_AT_LEAST, X32, refuse],
    ...refused.map((number) => [IF_EQUAL, number, refuse] as const),
    ...of_sockets.map((number) => [IF_EQUAL, number, number === socket ? sockets : pairs] as const),
    [IF_EQUAL, fallocate, refuse + 1],
    [IF_EQUAL, ptrace, processes],
    [IF_EQUAL, process_vm_writev, processes + 2, allow],
    // sockets:
    [LOAD, AT_FIRST_ARGUMENT],
    ...CONFINED_FAMILIES.map((family) => [IF_EQUAL, family, allow] as const),
    [RETURN, REFUSE],
    // pairs:
    [LOAD, AT_FIRST_ARGUMENT],
    [IF_EQUAL, AF_UNIX, pairs + 2, refuse],
    [LOAD, AT_SECOND_ARGUMENT],
    [AND, SOCKET_TYPE],
    ...CONNECTED_TYPES.map((type) => [IF_EQUAL, type, allow] as const),
    [RETURN, REFUSE],
    // processes:
    [LOAD, AT_SECOND_ARGUMENT],
    [IF_EQUAL, FIRST_PROCESS, refuse, allow],
    [LOAD, AT_FIRST_ARGUMENT],
    [IF_EQUAL, FIRST_PROCESS, refuse, allow],
    [RETURN, REFUSE],
    [RETURN, UNSUPPORTED],
    [RETURN, ALLOW],
  ];
  const program = Buffer.alloc(8 * lines.length);
  for (const [at, [code, value, yes = at + 1, no = at + 1]] of lines.entries()) {
    program.writeUInt16LE(code, 8 * at);
    program.writeUInt8(yes - at - 1, 8 * at + 2);
    program.writeUInt8(no - at - 1, 8 * at + 3);
    program.writeUInt32LE(value, 8 * at + 4);
  }
  return program;
}
