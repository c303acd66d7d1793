import type { ContainerConfigFields } from '@crux/contract'
import { toDnsLabel } from '../convert/names.ts'

export type NamedImage = { service: string; reference: string; config: ContainerConfigFields }

/** Names each service as its container, or as the last part of its image, and numbers those that would have the same name. */
export function nameServices(
  images: readonly { name: string; tag: string | null; config: ContainerConfigFields }[],
): NamedImage[] {
  const taken = new Set<string>()
  return images.map(({ name, tag, config }) => {
    const wanted = config.name || toDnsLabel(name.split('/').at(-1) ?? '') || 'service'
    let service = wanted
    for (let number = 2; taken.has(service); number += 1) service = `${wanted}-${number}`
    taken.add(service)
    return { service, reference: toReference(name, tag), config }
  })
}

/** `name:1.2`, `name@sha256:...`, `name:1.2@sha256:...`. */
function toReference(name: string, tag: string | null): string {
  if (!tag) return name
  return /^sha256:[0-9a-f]{64}$/.test(tag) ? `${name}@${tag}` : `${name}:${tag}`
}

/** The name of a project in Compose: lower-case letters, digits, dashes and underscores. */
export function toProjectName(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, '-')
  return plain.replace(/^[-_]+/, '').replace(/-+$/, '') || 'crux'
}
