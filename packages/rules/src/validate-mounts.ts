import { type ContainerConfigFields, type NodeType, patterns } from '@crux/contract'
import { type ConfigProblem, problem, repeated } from './config-problem.ts'
import { parseImageName } from './image-name.ts'
import { bytesOfQuantity } from './quantity.ts'
import { nestedHostPaths, volumeNameProblem } from './volume-name.ts'

type Options = { prefix?: string | undefined; whole?: boolean | undefined; nodeType?: NodeType | undefined }

/** Checks volumes and the init steps that fill them before a start: config container, storage, init containers. */
export function mountProblems(config: ContainerConfigFields, options: Options): ConfigProblem[] {
  return [
    ...volumeProblems(config, options),
    ...nestedHostPaths(config),
    ...configContainerProblems(config, options),
    ...storageProblems(config, options),
    ...initProblems(config, options),
  ]
}

function volumeProblems(config: ContainerConfigFields, options: Options): ConfigProblem[] {
  const each = (config.volumes ?? []).flatMap((volume, index) => {
    const found: ConfigProblem[] = []
    const say = (name: string, error: string, description: string) =>
      found.push(problem(`volumes[${index}].${name}`, error, description))
    const name = volumeNameProblem(volume.name, { prefix: options.prefix, container: config.name })
    if (name) say('name', 'matches', name)
    const path = inContainer(volume.path)
    if (path) say('path', 'matches', path)
    if (volume.size && !bytesOfQuantity(volume.size)) say('size', 'min', 'A size is more than nothing: 512Mi, 1G')
    return found
  })
  const twice = repeated(
    config.volumes,
    ({ path }) => normal(path),
    (index) => `volumes[${index}].path`,
    (path) => `Something else is mounted at ${path} already`,
  )
  return [...each, ...twice]
}

function configContainerProblems(
  { configContainer, ...config }: ContainerConfigFields,
  options: Options,
): ConfigProblem[] {
  if (!configContainer) return []
  const path = configContainer.path.startsWith('/') ? undefined : 'The folder of the image is an absolute path'
  return [
    ...(path ? [problem('configContainer.path', 'matches', path)] : []),
    ...imageProblems(configContainer.image, 'configContainer.image'),
    ...filledVolumeProblems(config, configContainer.volume, 'configContainer.volume', options),
  ]
}

function storageProblems({ storage, ...config }: ContainerConfigFields, options: Options): ConfigProblem[] {
  if (!storage?.storageId) return []
  const needed = (['bucket', 'path'] as const).filter((name) => !storage[name])
  const problems = needed.map((name) =>
    problem(`storage.${name}`, 'required', name === 'bucket' ? 'Say which bucket it is' : 'Say which volume it fills'),
  )
  const { bucket, path } = storage
  const parts = bucket?.split('/') ?? []
  if (
    bucket &&
    (/^\/|[\s\\]/.test(bucket.replace(/\{\{\s*\w+\s*\}\}/g, '')) || parts.some((part) => /^\.\.?$/.test(part)))
  )
    problems.push(problem('storage.bucket', 'matches', 'Write a bucket, or a bucket and a folder in it: assets/v1'))
  if (path) problems.push(...filledVolumeProblems(config, path, 'storage.path', options))
  return problems
}

function initProblems(config: ContainerConfigFields, options: Options): ConfigProblem[] {
  const inits = config.initContainers ?? []
  const each = inits.flatMap((init, index) => {
    const at = `initContainers[${index}]`
    const rows = (init.volumes ?? []).flatMap((link, place) => {
      const path = inContainer(link.path)
      return [
        ...(path ? [problem(`${at}.volumes[${place}].path`, 'matches', path)] : []),
        ...filledVolumeProblems(config, link.name, `${at}.volumes[${place}].name`, options),
      ]
    })
    const twice = repeated(
      init.volumes,
      ({ path }) => normal(path),
      (place) => `${at}.volumes[${place}].path`,
      (path) => `Something else is mounted at ${path} already`,
    )
    const names = (init.environment ?? []).flatMap(({ key }, place) =>
      key.includes('=') ? [problem(`${at}.environment[${place}].key`, 'matches', 'A name has no equals sign')] : [],
    )
    const name = initNameProblem(init.name, config.name, options)
    return [
      ...(name ? [problem(`${at}.name`, name.error, name.description)] : []),
      ...imageProblems(init.image, `${at}.image`),
      ...names,
      ...rows,
      ...twice,
    ]
  })
  const twice = repeated(
    inits,
    ({ name }) => name,
    (index) => `initContainers[${index}].name`,
    (name) => `Two init containers are called ${name}`,
  )
  return [...each, ...twice]
}

/** The container has the name `{prefix}-{name}-{its name}`. */
function initNameProblem(init: string, name: string | null | undefined, { prefix }: Options) {
  if (!patterns.dnsLabel.test(init))
    return { error: 'matches', description: `${init} is not a DNS label: use lower-case letters, digits and dashes` }
  const full = [prefix, name, init].filter(Boolean).join('-')
  return full.length > 63
    ? { error: 'max', description: `${full} has ${full.length} characters, 63 are possible with the prefix` }
    : undefined
}

/** An init step must name a volume of the container; on Docker, one that still exists when the container starts. */
function filledVolumeProblems(
  { volumes }: ContainerConfigFields,
  name: string,
  property: string,
  { whole, nodeType }: Options,
): ConfigProblem[] {
  const invalid = volumeNameProblem(name, {})
  if (invalid) return [problem(property, 'matches', invalid)]
  // Another layer may have the volume.
  if (!whole) return []
  const volume = volumes?.find((row) => row.name === name)
  if (!volume)
    return [problem(property, 'oneOf', `${name} is none of the container's volumes: add it or choose another`)]
  if (nodeType === 'docker' && (volume.type === 'mem' || volume.type === 'tmp'))
    return [problem(property, 'oneOf', `${name} is memory and empty at each start: use a volume of the type rwo`)]
  return []
}

function imageProblems(image: string, property: string): ConfigProblem[] {
  const [named = '', digest, ...more] = image.trim().split('@')
  const parsed = parseImageName(named, { mayNameRegistry: true })
  if (!parsed.ok) return [problem(property, 'matches', parsed.problem)]
  if (more.length > 0 || (digest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(digest)))
    return [problem(property, 'matches', 'A digest is sha256: and 64 hexadecimal digits')]
  return []
}

/** The reason why nothing can be mounted at the path. */
function inContainer(path: string): string | undefined {
  if (!path.startsWith('/')) return 'The path inside the container starts with /'
  return normal(path) === '/' ? 'Mount it at a folder: / is the container itself' : undefined
}

/** The path without empty and dotted parts. */
function normal(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}
