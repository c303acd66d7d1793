import type { TemplateFile, TemplateRegistry } from '@crux/contract'
import { type ConfigProblem, collectProblems, type Report } from './config-problem.ts'
import { validateConfig } from './config-validate.ts'
import { defaultContainerName } from './final-config.ts'
import { parseFullImageName } from './full-image-name.ts'
import { hostDangers } from './host-dangerous.ts'
import { type HostPort, isSameHostPort, publishedPorts } from './host-ports.ts'
import { matchRegistry } from './match-registry.ts'
import { parseRegistryUrl, registryUrlText } from './registry-url.ts'

/** A registry of a template as one of a team, with its name as the id. */
export function toRegistrySource({ name, type, details }: TemplateRegistry) {
  if (type === 'hub') {
    const url = 'hub.docker.com'
    return { id: name, type, url, imageUrlPrefix: `${url}/${details.imageNamePrefix}` }
  }
  const parsed = parseRegistryUrl(details.url)
  const url = parsed.ok ? registryUrlText(parsed.address) : ''
  return { id: name, type, url, imageUrlPrefix: url.replace(/^[a-z]+:\/\//i, '') }
}

/** The full name of a template's image, such as `docker.io/library/postgres`; undefined where its registry or its name is wrong. */
export function getTemplateImageName(template: TemplateFile, index: number): string | undefined {
  const image = template.images[index]
  const registry = template.registries.find(({ name }) => name === image?.registryName)
  if (!image || !registry) return undefined
  const prefix = toRegistrySource(registry).imageUrlPrefix.replace(/^hub\.docker\.com/, 'docker.io')
  const parsed = parseFullImageName(`${prefix}/${image.image}`)
  return parsed.ok && parsed.image.tag === null ? parsed.image.name : undefined
}

/** Longer container names leave too little of 63 characters for the prefix. */
const containerNameMax = 40

/** What is wrong with a template beyond the shape of its file. Without problems every member of a team can apply it. */
export function findTemplateProblems(template: TemplateFile): ConfigProblem[] {
  return collectProblems((report) => {
    checkRegistries(template, report)
    for (const index of template.images.keys()) checkImage(template, index, report)
    checkTogether(template, report)
  })
}

function checkRegistries({ registries, images }: TemplateFile, report: Report): void {
  const names = new Set<string>()
  registries.forEach((registry, index) => {
    const at = `registries[${index}]`
    if (names.has(registry.name)) report(`${at}.name`, 'keysAreUnique', `Two registries are named ${registry.name}`)
    names.add(registry.name)
    if (registry.type === 'unchecked' && !parseRegistryUrl(registry.details.url).ok)
      report(`${at}.details.url`, 'matches', `${registry.details.url} is not the address of a registry`)
    if (!images.some(({ registryName }) => registryName === registry.name))
      report(`${at}.name`, 'unused', `No image is in the registry ${registry.name}: remove it`)
  })
}

function checkImage(template: TemplateFile, index: number, report: Report): void {
  const image = template.images[index]
  if (!image) return
  const at = `images[${index}]`
  const { registryName, config } = image
  const fullName = getTemplateImageName(template, index)
  const sources = template.registries.map(toRegistrySource)
  if (!sources.some(({ id }) => id === registryName))
    report(`${at}.registryName`, 'notFound', `The template has no registry named ${registryName}`)
  else if (fullName === undefined)
    report(`${at}.image`, 'matches', `${image.image} is not the name of an image without a tag`)
  else if (matchRegistry(fullName, sources)?.registry.id !== registryName)
    report(`${at}.registryName`, 'matches', `${fullName} belongs to another registry of the template`)
  for (const problem of validateConfig(config, { whole: true, nodeType: 'docker' }))
    report(`${at}.config.${problem.property}`, problem.error, problem.description)
  for (const { property, reason } of hostDangers(config)) report(`${at}.config.${property}`, 'hostDangerous', reason)
  const environment = new Set((config.environment ?? []).map(({ key }) => key))
  ;(config.secrets ?? []).forEach(({ key, required, generate, value }, row) => {
    const secret = `${at}.config.secrets[${row}]`
    if (value) report(`${secret}.value`, 'notEmpty', `${key}: a template names secrets and contains no values`)
    if (generate && !required) report(`${secret}.required`, 'required', `${key} is generated, so it has to be required`)
    if (environment.has(key)) report(`${secret}.key`, 'keysAreUnique', `${key} is a variable of the environment too`)
  })
}

function checkTogether({ images }: TemplateFile, report: Report): void {
  const names = new Set<string>()
  const taken: HostPort[] = []
  images.forEach(({ image, config }, index) => {
    const at = `images[${index}].config`
    const name = config.name || defaultContainerName(image)
    if (names.has(name)) report(`${at}.name`, 'keysAreUnique', `Two containers are named ${name}`)
    if (name.length > containerNameMax)
      report(`${at}.name`, 'max', `Use at most ${containerNameMax} characters: a prefix is added`)
    names.add(name)
    for (const port of publishedPorts(config)) {
      if (taken.some((other) => isSameHostPort(port, other)))
        report(`${at}.${port.property}`, 'keysAreUnique', `Port ${port.from}/${port.protocol} is published twice`)
      taken.push(port)
    }
  })
}
