import { patterns } from '@crux/contract'
import { cruxExtension } from './crux-extension.ts'
import type { ServiceContext } from './service-context.ts'
import { getMember, toComposeRecord, toText } from './values.ts'

/**
 * Names the container as Compose does where a name of Compose is a DNS label, which it must be with the prefix. Other containers find it under this
 * name alone, so a name that differs from that of the service is reported.
 */
export function convertName(context: ServiceContext): void {
  // The extension names the container itself.
  if (getMember(toComposeRecord(context.get(cruxExtension)), 'name') !== undefined) return
  const given = toText(context.get('container_name')) || undefined
  const path = given === undefined ? [] : ['container_name']
  const wanted = given ?? context.service
  const name = toDnsLabel(wanted)
  if (name.length < 2) {
    context.error(
      path,
      `"${wanted}" is too short for the name of a container: give it two letters or digits with container_name`,
    )
    return
  }
  if (name !== context.service) {
    const rule = name === wanted ? '' : ' With its prefix, it has only lower-case letters, digits and dashes.'
    const message = `Other containers find it as ${name}, the name of its container, and not as ${context.service}.${rule}`
    context.warning(path, `${message} Use this name in their settings`)
  }
  context.set('name', name, path)
  const hostname = toText(context.get('hostname'))
  if (hostname && hostname !== name)
    context.omit(['hostname'], `A container is called as its name: others find it as ${name}, not as ${hostname}`)
}

/** The nearest DNS label: `My_Service` becomes `my-service`. */
export function toDnsLabel(text: string): string {
  if (patterns.dnsLabel.test(text)) return text
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
}

const shownNames = 10

/** Names as a part of a sentence; of many, the first ones. */
export function listNames(names: readonly string[], separator = ', '): string {
  const shown = names.slice(0, shownNames).join(separator)
  return names.length > shownNames ? `${shown} and ${names.length - shownNames} others` : shown
}
