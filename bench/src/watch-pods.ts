import { z } from 'zod'
import { openAccess } from '../../apps/agent/src/engines/kubernetes/client/access.ts'
import { Api } from '../../apps/agent/src/engines/kubernetes/client/api.ts'

const State = z.looseObject({
  waiting: z.looseObject({ reason: z.string().default('') }).optional(),
  terminated: z.looseObject({ exitCode: z.number() }).optional(),
})
const ContainerStatus = z.looseObject({ ready: z.boolean(), state: State.prefault({}) })
const Event = z.object({
  type: z.string(),
  object: z.looseObject({
    metadata: z.looseObject({ name: z.string() }),
    status: z.looseObject({
      containerStatuses: z.array(ContainerStatus).default([]),
      initContainerStatuses: z.array(ContainerStatus).default([]),
    }),
  }),
})

export type PodEvent = z.infer<typeof Event> & {
  /** Milliseconds since the epoch when the event was read. */
  at: number
}

/** Milliseconds since the epoch, with fractions. */
export const timeNow = (): number => performance.timeOrigin + performance.now()

/** The events of the pods of a namespace, which need not exist yet, as a program gets them that only watches. */
export async function watchPods(
  kubeconfig: string,
  namespace: string,
  take: (event: PodEvent) => void,
): Promise<{ end(): void }> {
  const api = new Api(await openAccess(kubeconfig))
  const answer = await api.stream({ path: `/api/v1/namespaces/${namespace}/pods`, query: { watch: 'true' } })
  let rest = ''
  answer.setEncoding('utf8')
  answer.on('data', (text: string) => {
    const at = timeNow()
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take({ ...Event.parse(JSON.parse(line)), at })
  })
  return { end: () => api.close() }
}
