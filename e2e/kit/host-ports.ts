import type { ContainerConfigFields } from '@crux/contract'
import { freePortRange } from '@crux/test-kit'

type Ports = Pick<ContainerConfigFields, 'ports' | 'portRanges'>
export type MovedPorts = Ports & {
  /** Published port -> the port of the configuration. */
  originals: Map<number, number>
}

/** Replaces published ports, which other programs of this machine may use, by free ones. All else stays. */
export async function moveHostPorts({ ports, portRanges }: Ports): Promise<MovedPorts> {
  const originals = new Map<number, number>()
  const move = async (from: number, count: number) => {
    const { from: first } = await freePortRange(count)
    for (let index = 0; index < count; index++) originals.set(first + index, from + index)
    return first
  }
  const movedPorts = []
  for (const port of ports ?? [])
    movedPorts.push(port.external == null ? port : { ...port, external: await move(port.external, 1) })
  const movedRanges = []
  for (const range of portRanges ?? []) {
    const { from, to } = range.external
    const first = await move(from, to - from + 1)
    movedRanges.push({ ...range, external: { from: first, to: first + to - from } })
  }
  return { ...(ports && { ports: movedPorts }), ...(portRanges && { portRanges: movedRanges }), originals }
}
