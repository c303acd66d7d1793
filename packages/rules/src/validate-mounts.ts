import { type ContainerConfigFields, type NodeType, patterns } from '@crux/contract'
import { type Report, reportRepeated } from './config-problem.ts'
import { parseImageName } from './image-name.ts'
import { bytesOfQuantity } from './quantity.ts'
import { checkNestedHostPaths, volumeNameProblem } from './volume-name.ts'

type Options = { prefix?: string | undefined; whole: boolean; nodeType?: NodeType | undefined }

/** Checks volumes and the init steps that fill them before a start: config container, storage, init containers. */
export function checkMounts(config: ContainerConfigFields, options: Options, report: Report): void {
  /** An init step must name a volume of the container; on Docker, one that still exists when the container starts. */
  const checkFilledVolume = (name: string, property: string) => {
    const invalid = volumeNameProblem(name, {})
    const volume = config.volumes?.find((row) => row.name === name)
    if (invalid) report(property, 'matches', invalid)
    // Another layer may have the volume.
    else if (!options.whole) return
    else if (!volume) report(property, 'oneOf', `${name} is none of the container's volumes: add it or choose another`)
    else if (options.nodeType === 'docker' && (volume.type === 'mem' || volume.type === 'tmp'))
      report(property, 'oneOf', `${name} is memory and empty at each start: use a volume of the type rwo`)
  }
  checkVolumes(config, options.prefix, report)
  checkNestedHostPaths(config, report)
  const { configContainer } = config
  if (configContainer) {
    if (!configContainer.path.startsWith('/'))
      report('configContainer.path', 'matches', 'The folder of the image is an absolute path')
    checkImage(configContainer.image, 'configContainer.image', report)
    checkFilledVolume(configContainer.volume, 'configContainer.volume')
  }
  checkStorage(config.storage, checkFilledVolume, report)
  checkInitContainers(config, options.prefix, checkFilledVolume, report)
}

type CheckFilledVolume = (name: string, property: string) => void

function checkVolumes(config: ContainerConfigFields, prefix: string | undefined, report: Report): void {
  for (const [index, volume] of (config.volumes ?? []).entries()) {
    const at = `volumes[${index}]`
    const name = volumeNameProblem(volume.name, { prefix, container: config.name })
    if (name) report(`${at}.name`, 'matches', name)
    checkPathInContainer(volume.path, `${at}.path`, report)
    if (volume.size && !bytesOfQuantity(volume.size))
      report(`${at}.size`, 'min', 'A size is more than nothing: 512Mi, 1G')
  }
  reportRepeatedPaths(config.volumes, 'volumes', report)
}

function checkStorage(
  storage: ContainerConfigFields['storage'],
  checkFilledVolume: CheckFilledVolume,
  report: Report,
): void {
  if (!storage?.storageId) return
  const { bucket, path } = storage
  if (!bucket) report('storage.bucket', 'required', 'Say which bucket it is')
  if (!path) report('storage.path', 'required', 'Say which volume it fills')
  const isPath = !/^\/|[\s\\]/.test((bucket ?? '').replace(/\{\{\s*\w+\s*\}\}/g, ''))
  if (bucket && (!isPath || bucket.split('/').some((part) => /^\.\.?$/.test(part))))
    report('storage.bucket', 'matches', 'Write a bucket, or a bucket and a folder in it: assets/v1')
  if (path) checkFilledVolume(path, 'storage.path')
}

function checkInitContainers(
  config: ContainerConfigFields,
  prefix: string | undefined,
  checkFilledVolume: CheckFilledVolume,
  report: Report,
): void {
  const inits = config.initContainers ?? []
  for (const [index, init] of inits.entries()) {
    const at = `initContainers[${index}]`
    // The container has the name `{prefix}-{name}-{its name}`.
    const full = [prefix, config.name, init.name].filter(Boolean).join('-')
    if (!patterns.dnsLabel.test(init.name))
      report(`${at}.name`, 'matches', `${init.name} is not a DNS label: use lower-case letters, digits and dashes`)
    else if (full.length > 63)
      report(`${at}.name`, 'max', `${full} has ${full.length} characters, 63 are possible with the prefix`)
    checkImage(init.image, `${at}.image`, report)
    for (const [place, { key }] of (init.environment ?? []).entries())
      if (key.includes('=')) report(`${at}.environment[${place}].key`, 'matches', 'A name has no equals sign')
    for (const [place, link] of (init.volumes ?? []).entries()) {
      checkPathInContainer(link.path, `${at}.volumes[${place}].path`, report)
      checkFilledVolume(link.name, `${at}.volumes[${place}].name`)
    }
    reportRepeatedPaths(init.volumes, `${at}.volumes`, report)
  }
  reportRepeated(report, inits, {
    of: ({ name }) => name,
    at: (index) => `initContainers[${index}].name`,
    description: (name) => `Two init containers are called ${name}`,
  })
}

function checkImage(image: string, property: string, report: Report): void {
  const [named = '', digest, ...more] = image.trim().split('@')
  const parsed = parseImageName(named, { mayNameRegistry: true })
  if (!parsed.ok) report(property, 'matches', parsed.problem)
  else if (more.length > 0 || (digest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(digest)))
    report(property, 'matches', 'A digest is sha256: and 64 hexadecimal digits')
}

const reportRepeatedPaths = (rows: readonly { path: string }[] | null | undefined, at: string, report: Report) =>
  reportRepeated(report, rows, {
    of: ({ path }) => withoutDots(path),
    at: (index) => `${at}[${index}].path`,
    description: (path) => `Something else is mounted at ${path} already`,
  })

function checkPathInContainer(path: string, property: string, report: Report): void {
  if (!path.startsWith('/')) report(property, 'matches', 'The path inside the container starts with /')
  else if (withoutDots(path) === '/') report(property, 'matches', 'Mount it at a folder: / is the container itself')
}

/** The path without empty and dotted parts. */
function withoutDots(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}
