/**
 * The messages between the agent and its gate: lines of JSON over a unix socket in a directory that only their user can enter. Imports
 * nothing: the gate runs from one small file, which may also come from a later agent.
 */

/** Where a port is held. The same pair is held once. */
export interface PortKey {
  port: number
  /** Empty: all addresses of the machine. */
  address: string
}

/** A held port and the container that it is routed to. */
export interface GatePort extends PortKey {
  /** Engine id of the container that answers; connections are counted by it. Empty: hold the port only, and keep its current target. */
  container: string
  /** Address of that container; empty: not known yet, connections wait. */
  target: string
  containerPort: number
  /** The header that is written before the client's own bytes. */
  proxy: '' | 'v1' | 'v2'
  /** Prefix of the container, so that the agent knows the owner of the port when the container is gone. */
  prefix: string
}

export type GateRequest =
  | { kind: 'hello' }
  /** Ends listening on `close`, then listens on `open` or changes its target. Applies all of it, or nothing and returns an error. */
  | { kind: 'apply'; open: GatePort[]; close: PortKey[] }
  /** Answered when the container has no connection left, or when the time is over. */
  | { kind: 'drain'; container: string; ms: number }
  /** Starts this file as the successor and hands all listening sockets over to it. */
  | { kind: 'handover'; entry: string }
  /** Ends the gate and its parent. The ports are forgotten, unless the next one is to hold them again. */
  | { kind: 'stop'; keepPorts?: boolean }

export interface GateHello {
  /** The version of the code that runs, as its starter named it. */
  code: string
  pid: number
  ports: GatePort[]
  /** Open connections, including those that predecessors still drain. */
  connections: number
}

/**
 * The code of every answer of a gate that has handed over. The gate also sends it, as the answer to the request 0 that no client makes, to
 * clients that are still connected: they find its successor behind the same name.
 */
export const handedOverCode = 'EHANDEDOVER'

export type GateAnswer =
  | { ok: true; hello?: GateHello; left?: number }
  /** `code` is that of the system call, `EADDRINUSE` or `EACCES`, where one failed; `port` is the one that it concerned. */
  | { ok: false; code: string; message: string; port?: number }

export const toKey = ({ port, address }: PortKey): string => `${isAny(address) ? '' : address}:${port}`

export function isAny(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::'
}

/** Calls back for every whole line. A longer line is not a message of this protocol. */
const lineMax = 1_000_000
export function lineReader(onLine: (line: string) => void, onTooLong: () => void): (chunk: Buffer | string) => void {
  let rest = ''
  return (chunk) => {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > lineMax) return onTooLong()
    for (const line of lines) if (line !== '') onLine(line)
  }
}
