import { posix } from 'node:path'
import { type ContainerInfo, readEnvironment } from './deployed-containers.ts'

/** A published port as `ADDRESS:PORT` by port of the container, and a volume by path. Rows list all of them. */
export const wholeRecords = ['ports', 'mounts'] as const

/**
 * A container of the engine, and its lists as records.
 *
 * @param neighbours the containers of the same compose file by service
 * @param originals published port -> the port of the compose file
 */
export function describeContainer(
  info: ContainerInfo,
  neighbours: ReadonlyMap<string, ContainerInfo>,
  originals: ReadonlyMap<number, number>,
) {
  const { Config, HostConfig, NetworkSettings } = info
  const networks = Object.keys(NetworkSettings.Networks)
  const compareNeighbours = <Value>(compare: (neighbour: ContainerInfo) => Value) =>
    Object.fromEntries([...neighbours].map(([service, neighbour]) => [service, compare(neighbour)]))
  return {
    ...info,
    environment: readEnvironment(info),
    ports: Object.fromEntries(
      Object.entries(HostConfig.PortBindings ?? {}).map(([port, bindings]) => [
        port,
        bindings.map(({ HostIp, HostPort }) => `${HostIp}:${originals.get(Number(HostPort))}`).join(', '),
      ]),
    ),
    mounts: Object.fromEntries(
      (HostConfig.Mounts ?? []).map(({ Target, Source, ReadOnly, TmpfsOptions }) => {
        const source = TmpfsOptions ? `memory of ${TmpfsOptions.SizeBytes / 1_024 ** 2} MiB` : posix.basename(Source)
        return [Target, ReadOnly ? `${source}, read-only` : source]
      }),
    ),
    exposed: Object.keys(Config.ExposedPorts ?? {}).sort(),
    networkCount: networks.length,
    sharedNetworks: compareNeighbours(
      (neighbour) => Object.keys(neighbour.NetworkSettings.Networks).filter((name) => networks.includes(name)).length,
    ),
    startedAfter: compareNeighbours((neighbour) => isAfter(info.State.StartedAt, neighbour)),
    hosts: Object.fromEntries((HostConfig.ExtraHosts ?? []).map((line) => splitOnce(line, ':'))),
    ulimits: Object.fromEntries(
      (HostConfig.Ulimits ?? []).map(({ Name, Soft, Hard }) => [Name, { soft: Soft, hard: Hard }]),
    ),
  }
}

/** Whether a container had started, and a job had ended, by this time. */
function isAfter(time: string, { State }: ContainerInfo): boolean {
  return Date.parse(time) >= Date.parse(State.Status === 'exited' ? State.FinishedAt : State.StartedAt)
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + 1)]
}
