import { create } from '@bufbuild/protobuf'
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt'
import { type Container, ContainerSchema, ContainerState } from '@crux/agent-protocol'
import type Docker from 'dockerode'
import { label } from '../../labels.ts'
import { splitReference } from '../../split-reference.ts'
import { getGatedPorts } from '../containers/gated-ports.ts'
import { partInRelease } from '../containers/names.ts'
import { statusAt } from './status.ts'

/** A container as the server's pages see it, from the data of the list and of the inspection. */
export function toView(listed: Docker.ContainerInfo, inspected: Docker.ContainerInspectInfo | undefined): Container {
  const name = (listed.Names[0] ?? listed.Id).replace(/^\//, '')
  const state = inspected?.State
  const image = splitReference(inspected?.Config.Image ?? listed.Image)
  return create(ContainerSchema, {
    ref: toRef(name, listed.Labels),
    engineId: listed.Id,
    command: listed.Command,
    createdAt: timestampFromDate(new Date(listed.Created * 1_000)),
    startedAt: moment(state?.StartedAt),
    state: getState(state?.Status ?? listed.State),
    engineState: state?.Status ?? listed.State,
    reason: getReason(listed, listed.Status, inspected),
    exitCode: state && !state.Running && moment(state.StartedAt) ? state.ExitCode : undefined,
    health: state?.Health && state.Health.Status !== 'none' ? state.Health.Status : '',
    restartCount: inspected?.RestartCount ?? 0,
    imageName: image.name,
    imageTag: image.tag,
    ports: toPorts(listed),
    labels: listed.Labels,
  })
}

/** Prefix and short name for a container of ours, the full name for any other. */
export function toRef(name: string, labels: Record<string, string>): { prefix: string; name: string } {
  const prefix = labels[label.prefix]
  if (prefix !== undefined && name.startsWith(`${prefix}-`)) return { prefix, name: name.slice(prefix.length + 1) }
  return { prefix: '', name }
}

export function getState(state: string): ContainerState {
  switch (state) {
    case 'running':
      return ContainerState.RUNNING
    case 'created':
    case 'restarting':
    case 'removing':
    case 'paused':
      return ContainerState.WAITING
    case 'exited':
    case 'dead':
      return ContainerState.EXITED
    default:
      return ContainerState.UNSPECIFIED
  }
}

/** The reason of a container at any later moment, as long as nothing happens to it. */
export function agingReason(
  listed: Docker.ContainerInfo,
  inspected: Docker.ContainerInspectInfo | undefined,
): (now: number) => string {
  const inspectedState = inspected && { OOMKilled: inspected.State.OOMKilled, Error: inspected.State.Error }
  const times = {
    startedAt: milliseconds(inspected?.State.StartedAt),
    finishedAt: milliseconds(inspected?.State.FinishedAt),
  }
  // The inspection itself is not kept: it is ten times as large as the part that is shown.
  const { Names, Labels, Status } = listed
  return (now) =>
    getReason({ Names, Labels }, statusAt(Status, times, now), inspectedState && { State: inspectedState })
}

function getReason(
  { Names, Labels }: Pick<Docker.ContainerInfo, 'Names' | 'Labels'>,
  status: string,
  inspected: { State: Pick<Docker.ContainerInspectInfo['State'], 'OOMKilled' | 'Error'> } | undefined,
): string {
  const error = inspected?.State.OOMKilled ? 'out of memory' : inspected?.State.Error
  const part = Labels[label.prefix] === undefined ? undefined : partInRelease(Names[0] ?? '')
  return `${status}${error ? `: ${error}` : ''}${part ? `; ${part}` : ''}`
}

/** The list names a published port once for IPv4 and once for IPv6, and a port that the gate holds as if it were not published. */
function toPorts({
  Names,
  Ports,
  Labels,
  State,
}: Docker.ContainerInfo): { internal: number; external: number; protocol: string }[] {
  const seen = new Map<string, { internal: number; external: number; protocol: string }>()
  // The gate routes to one container at a time.
  const isLedTo = State === 'running' && partInRelease(Names[0] ?? '') === undefined
  const gated = isLedTo ? getGatedPorts(Labels) : []
  for (const { containerPort: internal, hostPort: external } of gated)
    seen.set(`${internal}/tcp/${external}`, { internal, external, protocol: 'tcp' })
  for (const port of Ports) {
    const external = port.PublicPort ?? 0
    if (external === 0 && gated.some(({ containerPort }) => containerPort === port.PrivatePort && port.Type === 'tcp'))
      continue
    seen.set(`${port.PrivatePort}/${port.Type}/${external}`, {
      internal: port.PrivatePort,
      external,
      protocol: port.Type,
    })
  }
  return [...seen.values()].sort((a, b) => a.internal - b.internal || a.external - b.external)
}

function moment(text: string | undefined): Timestamp | undefined {
  const at = milliseconds(text)
  return at === undefined ? undefined : timestampFromDate(new Date(at))
}

/** Docker writes the year 1 for "never". */
function milliseconds(text: string | undefined): number | undefined {
  return !text || text.startsWith('0001-') ? undefined : Date.parse(text)
}
