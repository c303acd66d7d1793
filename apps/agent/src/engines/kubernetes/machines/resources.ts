import { z } from 'zod'

/** What a machine has, or what pods have requested of it. */
export interface Resources {
  cpuMillis: number
  memoryBytes: number
}

const Quantities = z.record(z.string(), z.union([z.string(), z.number()])).default({})
const Requests = z.object({ requests: Quantities }).prefault({})
const Spec = z.object({
  containers: z.array(z.object({ resources: Requests })).default([]),
  initContainers: z.array(z.object({ resources: Requests, restartPolicy: z.string().default('') })).default([]),
  /** Of the pod as a whole, from Kubernetes 1.34. */
  resources: Requests,
  overhead: Quantities,
})

const factors: Readonly<Record<string, number>> = {
  '': 1,
  ...{ n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
}

/** @param text as the API writes it: "100m", "1.5", "128Mi", "1e3" @returns 0 for anything that is no amount */
export function parseQuantity(text: string | number | undefined): number {
  const [, digits = '', exponent = '', suffix = ''] =
    /^(\d+(?:\.\d*)?|\.\d+)(?:([eE][+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?$/.exec(String(text ?? '')) ?? []
  const amount = Number(`${digits}${exponent}`) * (factors[suffix] ?? 1)
  return digits !== '' && Number.isFinite(amount) ? amount : 0
}

export const toResources = ({ cpu, memory }: z.output<typeof Quantities>): Resources => ({
  // The cluster rounds up too, and 0.1 * 1000 must not become 101.
  cpuMillis: Math.ceil(parseQuantity(cpu) * 1_000 - 1e-6),
  memoryBytes: Math.ceil(parseQuantity(memory)),
})

/**
 * What the scheduler sets aside for a pod: its containers together, or, where it is more, an init container with the sidecars that run by then.
 *
 * @param spec of a pod, as JSON
 */
export function sumPodRequests(spec: unknown): Resources {
  const { containers, initContainers, overhead, resources } = Spec.safeParse(spec).data ?? Spec.parse({})
  const none = { cpuMillis: 0, memoryBytes: 0 }
  let sidecars: Resources = none
  let starting: Resources = none
  for (const { resources: own, restartPolicy } of initContainers) {
    const requests = toResources(own.requests)
    const together = add(sidecars, requests)
    if (restartPolicy === 'Always') sidecars = together
    starting = max(starting, together)
  }
  const running = containers.reduce((sum, one) => add(sum, toResources(one.resources.requests)), sidecars)
  const whole = toResources(resources.requests)
  const needed = max(running, starting)
  return add(toResources(overhead), {
    cpuMillis: resources.requests.cpu === undefined ? needed.cpuMillis : whole.cpuMillis,
    memoryBytes: resources.requests.memory === undefined ? needed.memoryBytes : whole.memoryBytes,
  })
}

export const add = (left: Resources, right: Resources): Resources => ({
  cpuMillis: left.cpuMillis + right.cpuMillis,
  memoryBytes: left.memoryBytes + right.memoryBytes,
})

const max = (left: Resources, right: Resources): Resources => ({
  cpuMillis: Math.max(left.cpuMillis, right.cpuMillis),
  memoryBytes: Math.max(left.memoryBytes, right.memoryBytes),
})
