import { Document } from 'yaml'

/** A workload and its pods as kubectl prints them: one document each, with texts quoted that an older YAML would read as something else. */
export function toClusterYaml(json: string): string {
  const { workload, pods = [] }: { workload?: unknown; pods?: unknown[] } = JSON.parse(json)
  return [...(workload ? [workload] : []), ...pods]
    .map((object) =>
      new Document(object, { aliasDuplicateObjects: false, compat: 'yaml-1.1' }).toString({ lineWidth: 0 }),
    )
    .join('---\n')
}
