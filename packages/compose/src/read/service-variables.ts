import type { ReadContext } from './context.ts'
import { readEnvFile, readRawEnvFile } from './env-file.ts'
import {
  type ComposeNode,
  createList,
  createScalar,
  getEntry,
  getText,
  type MapNode,
  mapEntries,
  withEntry,
} from './nodes.ts'
import type { Lookup } from './substitute.ts'

/**
 * Variables that a file names without a value have the value of the default `.env`: those in `environment`, and configs with `environment`, whose
 * content is then in the file. The values of secrets are not inserted.
 */
export function resolveVariables(root: MapNode, variables: Lookup): MapNode {
  return mapEntries(root, (area, name) => {
    if (area.kind !== 'map') return area
    if (name === 'configs') return mapEntries(area, (config) => resolveConfig(config, variables))
    if (name !== 'services') return area
    return mapEntries(area, (service) => {
      const environment = getEntry(service, 'environment')
      if (service.kind !== 'map' || !environment) return service
      return withEntry(service, 'environment', resolveEnvironment(environment, variables))
    })
  })
}

function resolveEnvironment(environment: ComposeNode, variables: Lookup): ComposeNode {
  if (environment.kind === 'map')
    return mapEntries(environment, (node, key, { keyPosition }) => {
      const value = node.kind === 'scalar' && node.value === null ? variables(key) : undefined
      return value === undefined ? node : createScalar(keyPosition, value, node.tag)
    })
  if (environment.kind !== 'list') return environment
  const items = environment.items.map((item) => {
    const name = getText(item)
    const value = name === undefined || name.includes('=') ? undefined : variables(name)
    return value === undefined ? item : createScalar(item.position, `${name}=${value}`, item.tag)
  })
  return createList(environment.position, items, environment.tag)
}

function resolveConfig(config: ComposeNode, variables: Lookup): ComposeNode {
  const name = getText(getEntry(config, 'environment'))
  const value = name === undefined ? undefined : variables(name)
  if (config.kind !== 'map' || value === undefined) return config
  const { position } = getEntry(config, 'environment') ?? config
  return withEntry(withEntry(config, 'environment', undefined), 'content', createScalar(position, value))
}

/** The variables of the files in `env_file`, later files over earlier ones. */
export function readServiceVariables(
  name: string,
  service: ComposeNode,
  context: ReadContext,
): { [name: string]: string } {
  const files = getEntry(service, 'env_file')
  const values = new Map<string, string>()
  const own = readOwnVariables(getEntry(service, 'environment'))
  const lookup = (key: string) => context.variables(key) ?? own.get(key) ?? values.get(key)
  const items = files?.kind === 'list' ? files.items : files ? [files] : []
  for (const [index, item] of items.entries()) {
    const path = getText(item) ?? getText(getEntry(item, 'path'))
    if (path === undefined) continue
    const at = files?.kind === 'list' ? ['services', name, 'env_file', index] : ['services', name, 'env_file']
    const file = context.findEnvFile('', path)
    const required = getEntry(item, 'required')
    if (!file) {
      if (required?.kind === 'scalar' && required.value === false) continue
      const message = `The file ${path} is not among the given .env files. Add it under this name, or set "required: false".`
      context.problems.error(item.position, at, message)
      continue
    }
    const format = getText(getEntry(item, 'format'))
    if (format !== undefined && format !== 'raw')
      context.problems.error(item.position, at, `The format "${format}" is unknown. Remove it, or write "raw".`)
    const read = format === 'raw' ? readRawEnvFile : readEnvFile
    for (const [key, value] of read(file, { ...context, lookup, path: at })) values.set(key, value)
  }
  return Object.fromEntries(values)
}

function readOwnVariables(environment: ComposeNode | undefined): Map<string, string> {
  const values = new Map<string, string>()
  if (environment?.kind === 'map')
    for (const [key, { node }] of environment.entries)
      if (node.kind === 'scalar' && node.value !== null) values.set(key, String(node.value))
  if (environment?.kind === 'list')
    for (const item of environment.items) {
      const [, key, value] = /^([^=]*)=([\s\S]*)$/.exec(getText(item) ?? '') ?? []
      if (key !== undefined && value !== undefined) values.set(key, value)
    }
  return values
}
