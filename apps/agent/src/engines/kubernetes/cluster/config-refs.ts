import { z } from 'zod'
import type { ClusterObject } from './cluster.ts'

export interface ConfigRef {
  kind: 'ConfigMap' | 'Secret'
  name: string
}

const Named = z.object({ name: z.string().default('') })
const Container = z.object({
  envFrom: z.array(z.object({ configMapRef: Named.optional(), secretRef: Named.optional() })).default([]),
})
const Template = z.object({
  template: z.object({
    spec: z.object({
      imagePullSecrets: z.array(Named).default([]),
      volumes: z.array(z.object({ secret: z.object({ secretName: z.string().default('') }).optional() })).default([]),
      initContainers: z.array(Container).default([]),
      containers: z.array(Container).default([]),
    }),
  }),
})
/** What the pod template of a workload, or of one of its revisions, names. */
export function listConfigRefs({ fields }: Pick<ClusterObject, 'fields'>): ConfigRef[] {
  const spec = Template.safeParse(fields.spec).data?.template.spec
  if (!spec) return []
  const { imagePullSecrets, volumes } = spec
  const all = [
    ...imagePullSecrets.map(({ name }) => ({ kind: 'Secret' as const, name })),
    ...volumes.flatMap(({ secret }) => (secret ? [{ kind: 'Secret' as const, name: secret.secretName }] : [])),
    ...listEnvironmentRefs({ fields }),
  ]
  return [...new Map(all.filter(({ name }) => name !== '').map((ref) => [toKey(ref), ref])).values()]
}

/** Only what becomes the environment of containers. */
export function listEnvironmentRefs({ fields }: Pick<ClusterObject, 'fields'>): ConfigRef[] {
  const spec = Template.safeParse(fields.spec).data?.template.spec
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].flatMap(({ envFrom }) =>
    envFrom.flatMap(({ configMapRef, secretRef }) => [
      ...(configMapRef ? [{ kind: 'ConfigMap' as const, name: configMapRef.name }] : []),
      ...(secretRef ? [{ kind: 'Secret' as const, name: secretRef.name }] : []),
    ]),
  )
}

export const toKey = ({ kind, name }: ConfigRef): string => `${kind}/${name}`
