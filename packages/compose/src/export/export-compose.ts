import { type ContainerConfigFields, containerConfigFieldNames } from '@crux/contract'
import { configToJson, sameValue } from '@crux/rules'
import { convertCompose } from '../convert/convert-compose.ts'
import { cruxExtension } from '../convert/crux-extension.ts'
import type { ComposeRecord } from '../convert/values.ts'
import type { ComposeDocument } from '../model.ts'
import { dropUnset, toComparable } from './comparable.ts'
import { nameVolumes, renderNetworks, renderVolumes } from './render-declarations.ts'
import { renderService } from './render-service.ts'
import { type NamedImage, nameServices, toProjectName } from './service-names.ts'
import { toComposeValue, toYaml } from './to-yaml.ts'

export type ExportInput = {
  /** The name of the version. */
  name: string
  /** In the order in which they start. `name` is the full name without tag; `tag` is as in `ConvertedImage`. */
  images: readonly { name: string; tag: string | null; config: ContainerConfigFields }[]
}

/**
 * Writes a version as a compose file that imports to the same configuration. What Compose cannot say is below `x-crux` of its service, which takes
 * precedence when the file is imported. It contains no values of secrets.
 */
export function exportCompose({ name, images }: ExportInput): string {
  const named = nameServices(images)
  const nameVolume = nameVolumes(named)
  const declarations = { networks: renderNetworks(named), volumes: renderVolumes(named, nameVolume) }
  const plain = new Map(
    named.map((image) => [image.service, renderService(image, (name) => nameVolume(image.service, name))]),
  )
  const { images: found } = convertCompose(toDocument({ services: Object.fromEntries(plain), ...declarations }))
  const configs = new Map(found.map(({ service, config }) => [service, config]))
  const services = named.map((image): [string, ComposeRecord] => {
    const config = configs.get(image.service)
    // A service that cannot be imported as Compose writes it has all its settings in the extension.
    const service = config ? plain.get(image.service) : undefined
    return [image.service, addExtension(service ?? { image: image.reference }, image, config ?? {})]
  })
  return toYaml({
    name: toProjectName(name),
    services: Object.fromEntries(services),
    ...Object.fromEntries(Object.entries(declarations).filter(([, entries]) => Object.keys(entries).length > 0)),
  })
}

/** A document that needs no reading: its texts are not escaped yet. */
const toDocument = (value: ComposeRecord): ComposeDocument => ({
  value,
  position: () => ({ file: 'compose.yaml', line: 1, column: 1 }),
  envFileVariables: {},
  invalidServices: new Set(),
})

/** Adds the settings that the import of the service would not have, and null for those that it would have too many. */
function addExtension(service: ComposeRecord, { config }: NamedImage, found: ContainerConfigFields): ComposeRecord {
  const [wanted, got] = [toComparable(config), toComparable(found)]
  const json = configToJson(dropUnset(config), { base: true })
  const differing = containerConfigFieldNames.filter((field) => !sameValue(wanted[field], got[field]))
  if (differing.length === 0) return service
  const settings = Object.fromEntries(differing.map((field) => [field, toComposeValue(json[field] ?? null)]))
  return { ...service, [cruxExtension]: settings }
}
