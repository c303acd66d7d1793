import { z } from 'zod'
import { parseJson } from '../../../files/parse-json.ts'
import type { PublishedPort } from '../containers/container-engine.ts'

/** Label by which an image declares the ports that it listens on. */
const networkLabel = 'io.dyrector.cap.network.v1'

export interface ImagePorts {
  exposed: { port: number; protocol: 'tcp' }[]
  /** Ports that the image declares as public, at any free port of the node. */
  published: (PublishedPort & { containerPort: number })[]
  /** Why the label cannot be read, for the log. */
  problem?: string
}

/** @throws Error with a sentence for users for a number that is no port */
export function imagePorts(labels: Readonly<Record<string, string>>): ImagePorts {
  const none: ImagePorts = { exposed: [], published: [] }
  const text = labels[networkLabel]
  if (text === undefined) return none
  const read = parseJson(NetworkLabel, text)
  if (!read) return { ...none, problem: `the label ${networkLabel} of the image cannot be read and is left out` }
  const found = new Map<number, boolean>()
  for (const { listening, exposed } of read.ports) {
    const port = Number(listening)
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new Error(`the label ${networkLabel} of the image names ${String(listening)}, which is not a port`)
    found.set(port, found.get(port) === true || exposed === true)
  }
  return {
    exposed: [...found.keys()].map((port) => ({ port, protocol: 'tcp' })),
    published: [...found].flatMap(([port, exposed]) =>
      exposed ? [{ containerPort: port, hostPort: 0, protocol: 'tcp' as const, address: '' }] : [],
    ),
  }
}

const NetworkLabel = z.object({
  ports: z.array(z.object({ listening: z.unknown().optional(), exposed: z.unknown().optional() })),
})
