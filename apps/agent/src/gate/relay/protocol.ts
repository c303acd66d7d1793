/**
 * What the agent and its gate say to each other: lines of JSON over a unix socket in a folder that only their user can enter.
 * Imports nothing: the gate runs from one small file, also one that a later agent has put there.
 */

/** Where a port is held. The same pair is held once. */
export interface PortKey {
  port: number
  /** Empty: all addresses of the machine. */
  address: string
}

/** A held port and the container that it leads to. */
export interface GatePort extends PortKey {
  /** Engine id of the container that answers; connections are counted by it. Empty: just hold it, wherever it leads by now. */
  container: string
  /** Address of that container; empty: not known yet, connections wait. */
  target: string
  containerPort: number
  /** What is written before the client's own bytes. */
  proxy: '' | 'v1' | 'v2'
  /** Prefix of the container, so that the agent knows whose port it is when the container is gone. */
  prefix: string
}

export type GateRequest =
  | { kind: 'hello' }
  /** Ends listening on `close`, then listens on `open` or leads it elsewhere. All of it, or nothing and an error. */
  | { kind: 'apply'; open: GatePort[]; close: PortKey[] }
  /** Answered when no connection leads to the container any more, or when the time is over. */
  | { kind: 'drain'; container: string; ms: number }
  /** Starts this file as the successor and gives it everything that listens. */
  | { kind: 'handover'; entry: string }
  /** Ends it, and its parent with it. The ports are forgotten, unless the next one is to hold them again. */
  | { kind: 'stop'; keepPorts?: boolean }

export interface GateHello {
  /** Of the code that runs, as its starter called it. */
  code: string
  pid: number
  ports: GatePort[]
  /** Open connections, those of predecessors that still drain among them. */
  connections: number
}

/**
 * The code of every answer of a gate that has handed over. It also says so, as the answer to the request 0 that nobody makes, to those
 * that are still connected: they find its successor behind the same name.
 */
export const handedOverCode = 'EHANDEDOVER'

export type GateAnswer =
  | { ok: true; hello?: GateHello; left?: number }
  /** `code` is that of the system call, `EADDRINUSE` or `EACCES`, where one failed; `port` the one that it was about. */
  | { ok: false; code: string; message: string; port?: number }

export const keyOf = ({ port, address }: PortKey): string => `${isAny(address) ? '' : address}:${port}`

export function isAny(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::'
}

/** Calls back for every whole line. A line longer than this is no message of ours. */
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
