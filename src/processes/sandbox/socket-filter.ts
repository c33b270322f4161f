/**
 * A seccomp filter in the kernel's format (struct sock_filter, little endian). It refuses ways out of a sandbox that its file system and network do not
 * close: Unix domain sockets and those of virtual machines, io_uring, which could open them unseen, the kernel's key rings, bpf, and changing the first
 * process, with which all others end. `socketpair` is allowed: its sockets are connected only to each other.
 */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
/** Makes the call fail with `EPERM`. */
const REFUSE = 0x00050001;

const AT_NUMBER = 0;
const AT_ARCHITECTURE = 4;
const AT_FIRST_ARGUMENT = 16;
const AT_SECOND_ARGUMENT = 24;

const AF_UNIX = 1;
const AF_VSOCK = 40;
const FIRST_PROCESS = 1;

interface Calls {
  /** AUDIT_ARCH_… value; calls by another convention are refused, because their numbers differ. */
  readonly architecture: number;
  readonly socket: number;
  readonly ptrace: number;
  readonly process_vm_writev: number;
  /** io_uring_setup, add_key, request_key, keyctl, bpf */
  readonly refused: readonly number[];
}

const CALLS: Readonly<Partial<Record<NodeJS.Architecture, Calls>>> = {
  x64: {
    architecture: 0xc000003e,
    socket: 41,
    ptrace: 101,
    process_vm_writev: 311,
    refused: [425, 248, 249, 250, 321],
  },
  arm64: {
    architecture: 0xc00000b7,
    socket: 198,
    ptrace: 117,
    process_vm_writev: 271,
    refused: [425, 217, 218, 219, 280],
  },
};

/** On x64, numbers from here on are calls with 32-bit pointers. */
const X32 = 0x40000000;

/** `sockets_allowed`: whether sockets of all kinds are allowed. Returns null if there is no filter for this architecture. */
export function socketFilter(architecture: NodeJS.Architecture, sockets_allowed: boolean): Buffer | null {
  const calls = CALLS[architecture];
  if (calls === undefined) return null;
  const { architecture: own, socket, ptrace, process_vm_writev, refused } = calls;
  const sockets = 7 + refused.length;
  const refuse = sockets + 7;
  const allow = refuse + 1;
  // Each line: code, value, and the indices of the next line if the comparison holds and if not (default: the following line).
  const lines: readonly (readonly [code: number, value: number, yes?: number, no?: number])[] = [
    [LOAD, AT_ARCHITECTURE],
    [IF_EQUAL, own, 2, refuse],
    [LOAD, AT_NUMBER],
    [IF_AT_LEAST, X32, refuse, 4],
    ...refused.map((number) => [IF_EQUAL, number, refuse] as const),
    [IF_EQUAL, ptrace, sockets + 3],
    [IF_EQUAL, process_vm_writev, sockets + 5],
    [IF_EQUAL, socket, sockets_allowed ? allow : sockets, allow],
    // sockets:
    [LOAD, AT_FIRST_ARGUMENT],
    [IF_EQUAL, AF_UNIX, refuse],
    [IF_EQUAL, AF_VSOCK, refuse, allow],
    [LOAD, AT_SECOND_ARGUMENT],
    [IF_EQUAL, FIRST_PROCESS, refuse, allow],
    [LOAD, AT_FIRST_ARGUMENT],
    [IF_EQUAL, FIRST_PROCESS, refuse, allow],
    [RETURN, REFUSE],
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
