import type { FinalContainerConfig } from '@crux/contract'
import { z } from 'zod'
import { parseJson } from '../../../files/parse-json.ts'
import { getOwner, label } from '../../labels.ts'
import type { ContainerSummary, GatedPort, PublishedPort } from './container-engine.ts'

/** How long open connections to a replaced container may continue where the configuration does not say. */
const drainSecondsDefault = 30

const GateLabel = z.object({
  drainSeconds: z.number(),
  ports: z.array(
    z.object({
      port: z.number(),
      address: z.string(),
      containerPort: z.number(),
      proxyProtocol: z.enum(['v1', 'v2']).optional(),
    }),
  ),
})

export function getDrainSeconds(config: Pick<FinalContainerConfig, 'portGate'>): number {
  return config.portGate?.drainSeconds ?? drainSecondsDefault
}

/** The label describes what the gate does for the container, so that an agent that lost all other data finds it on the engine. */
export function gateLabel(gated: readonly GatedPort[], drainSeconds: number): Record<string, string> {
  if (gated.length === 0) return {}
  const ports = gated.map(({ hostPort, address, containerPort, proxyProtocol }) => ({
    port: hostPort,
    address,
    containerPort,
    ...(proxyProtocol ? { proxyProtocol } : {}),
  }))
  return { [label.gate]: JSON.stringify({ drainSeconds, ports }) }
}

/** Returns the ports of a container with an owner: labels of any other container do not count. */
export function getGatedPorts(labels: Record<string, string>): GatedPort[] {
  const read = readLabel(labels)
  return (read?.ports ?? []).map(({ port, address, containerPort, proxyProtocol }) => ({
    hostPort: port,
    protocol: 'tcp',
    address,
    containerPort,
    ...(proxyProtocol ? { proxyProtocol } : {}),
  }))
}

/** The drain time of the release that created the container. */
export function getGateDrainSeconds(labels: Record<string, string>): number {
  return readLabel(labels)?.drainSeconds ?? drainSecondsDefault
}

/** Every port of the machine that a container uses, through the engine or the gate. */
export function claimedPorts(
  container: Pick<ContainerSummary, 'published' | 'gated'>,
): readonly (PublishedPort | GatedPort)[] {
  return container.gated.length === 0 ? container.published : [...container.published, ...container.gated]
}

const readLabel = (labels: Record<string, string>) =>
  getOwner(labels) ? parseJson(GateLabel, labels[label.gate]) : undefined
