import { z } from 'zod'
import type { ClusterObject, Manifest } from '../cluster/cluster.ts'

const Variable = z.looseObject({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() })
const Container = z.object({ name: z.string(), env: z.array(Variable).default([]) })
const Pod = z.object({
  template: z.object({
    spec: z.object({
      initContainers: z.array(Container).default([]),
      containers: z.array(Container).default([]),
    }),
  }),
})

/** A variable of a container that takes precedence over one of the release. */
export interface HidingVariable {
  list: 'initContainers' | 'containers'
  container: string
  name: string
  /** JSON pointer of the list's entry. */
  pointer: string
  /** The text, or the object that says where the value comes from. */
  value: unknown
  entry: Readonly<Record<string, unknown>>
}

/**
 * The variables that another program has set in containers of the release, under names that the release sets. Releases set variables by
 * ConfigMap and Secret alone, over which an entry of the container itself takes precedence: no apply would ever remove it.
 *
 * @param names the variables of the release
 */
export function findHidingVariables(
  found: Pick<ClusterObject, 'fields'>,
  manifest: Manifest,
  names: ReadonlySet<string>,
): HidingVariable[] {
  const pod = Pod.safeParse(found.fields.spec).data?.template.spec
  const wanted = Pod.safeParse(manifest.spec).data?.template.spec
  if (!pod || !wanted) return []
  return (['initContainers', 'containers'] as const).flatMap((list) =>
    pod[list].flatMap(({ env, name: container }, index) =>
      wanted[list].some(({ name }) => name === container)
        ? env.flatMap((entry, at) =>
            names.has(entry.name)
              ? {
                  list,
                  container,
                  name: entry.name,
                  pointer: `/spec/template/spec/${list}/${index}/env/${at}`,
                  value: entry.valueFrom ?? entry.value ?? '',
                  entry,
                }
              : [],
          )
        : [],
    ),
  )
}

/** The pointers of all, from the last to the first of each list: each removal moves the later entries. */
export const toRemovals = (variables: readonly HidingVariable[]): string[] =>
  variables.map(({ pointer }) => pointer).toReversed()

/** The manifest with the variables as entries of its containers, as they were found. */
export function withHidingVariables(manifest: Manifest, variables: readonly HidingVariable[]): Manifest {
  if (variables.length === 0) return manifest
  const spec = Template.parse(manifest.spec)
  const pod = spec.template.spec
  const withEnv = (list: HidingVariable['list']) =>
    pod[list]?.map((container) => {
      const own = variables.filter((one) => one.list === list && one.container === container.name)
      return own.length === 0
        ? container
        : { ...container, env: [...(container.env ?? []), ...own.map(({ entry }) => entry)] }
    })
  const [initContainers, containers] = [withEnv('initContainers'), withEnv('containers')]
  const changed = { ...pod, ...(initContainers && { initContainers }), ...(containers && { containers }) }
  return { ...manifest, spec: { ...spec, template: { ...spec.template, spec: changed } } }
}

const Named = z.looseObject({ name: z.string(), env: z.array(z.unknown()).optional() })
const Template = z.looseObject({
  template: z.looseObject({
    spec: z.looseObject({ initContainers: z.array(Named).optional(), containers: z.array(Named).optional() }),
  }),
})
