import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GatePort } from './protocol.ts'

/** What a gate that starts after a crash or a reboot finds: which ports it held and where they led. */
interface Stored {
  /** The kernel's: after a reboot every container has another address. */
  boot: string
  ports: GatePort[]
}

export function readPorts(folder: string): GatePort[] {
  let stored: Stored
  try {
    stored = JSON.parse(readFileSync(join(folder, 'ports.json'), 'utf8')) as Stored
  } catch {
    return []
  }
  const ports = Array.isArray(stored.ports) ? stored.ports.filter(isPort) : []
  return stored.boot === bootId() ? ports : ports.map((port) => ({ ...port, target: '' }))
}

/** In one step, so that a crash leaves the old or the new text. Without fsync: after a loss of power the addresses are void anyhow. */
export function writePorts(folder: string, ports: readonly GatePort[]): void {
  const path = join(folder, 'ports.json')
  writeFileSync(`${path}.new`, JSON.stringify({ boot: bootId(), ports }), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

export function isPort(value: unknown): value is GatePort {
  const port = value as Partial<GatePort> | null
  const isNumber = (number: unknown) => Number.isInteger(number) && Number(number) > 0 && Number(number) < 65_536
  const isText = (text: unknown) => typeof text === 'string' && text.length < 256
  return (
    typeof port === 'object' &&
    port !== null &&
    isNumber(port.port) &&
    isNumber(port.containerPort) &&
    [port.address, port.target, port.container, port.prefix].every(isText) &&
    (port.proxy === '' || port.proxy === 'v1' || port.proxy === 'v2')
  )
}
