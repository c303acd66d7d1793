import { hasHealthTest, parseFullImageName } from '@crux/rules'
import type { ComposeDocument, ConvertedImage, ConvertResult, SourcePosition } from '../model.ts'
import { checkConfig } from './check-config.ts'
import { applyCruxExtension } from './crux-extension.ts'
import { convertEnvironment, convertLabels } from './environment.ts'
import { convertHealthCheck } from './health.ts'
import { serviceKeys, topLevelKeys } from './key-table.ts'
import { listNotKept } from './list-not-kept.ts'
import { convertLogging } from './logging.ts'
import { convertName, listNames } from './names.ts'
import { convertNetworks } from './networks.ts'
import { type Dependency, orderServices, readDependencies } from './order.ts'
import { convertPorts } from './ports.ts'
import { convertProcess } from './process.ts'
import { createReport, type Report } from './report.ts'
import { convertResources } from './resources.ts'
import { convertRuntime } from './runtime.ts'
import { createServiceContext, type ServiceContext } from './service-context.ts'
import { type ComposeRecord, getMember, isComposeRecord, toComposeRecord, toText, toTexts } from './values.ts'
import { convertVolumes, reportSharedVolumes } from './volumes.ts'

/**
 * Converts the services of a compose document to images with their configurations, in the order in which they start. Each value becomes a setting, or
 * is listed as not kept, or is an error at its place. A service with an error is left out.
 */
export function convertCompose(document: ComposeDocument): ConvertResult {
  const report = createReport(document)
  const root = document.value
  const services = toComposeRecord(getMember(root, 'services'))
  listNotKept(root, topLevelKeys, (path, reason) => report.omit(path, null, reason))
  reportSharedNetwork(services, report)
  const dependencies = readDependencies(services, report)
  const waiting = Map.groupBy(dependencies, ({ on }) => on)
  const ordered = orderServices(Object.keys(services), dependencies)
  if (!ordered.ok) {
    const names = ordered.cycle.map(({ service }) => service)
    const message = `These services wait for each other: ${listNames([...names, ...names.slice(0, 1)], ' -> ')}. Remove one of the dependencies`
    report.error(ordered.cycle[0]?.path ?? ['services'], null, message)
    return { images: [], problems: report.problems, notKept: sortByPosition(report.notKept) }
  }
  const contexts = new Map<string, ServiceContext>()
  const images: ConvertedImage[] = []
  for (const service of ordered.order) {
    if (document.invalidServices.has(service)) continue
    const context = createServiceContext(service, toComposeRecord(services[service]), root, report)
    contexts.set(service, context)
    const image = convertService(context, waiting.get(service) ?? [], document)
    if (image) images.push(image)
  }
  reportRepeatedNames(images, contexts)
  reportSharedVolumes([...contexts.values()])
  const broken = new Set(report.problems.flatMap(({ level, service }) => (level === 'error' ? [service] : [])))
  return {
    images: images.filter(({ service }) => !broken.has(service)),
    problems: sortByPosition(report.problems),
    notKept: sortByPosition(report.notKept),
  }
}

/** In the order of the lines of each file. */
function sortByPosition<Entry extends SourcePosition>(entries: readonly Entry[]): Entry[] {
  const files = new Map([...new Set(entries.map(({ file }) => file))].map((file, index) => [file, index]))
  const place = ({ file }: Entry) => files.get(file) ?? 0
  return entries.toSorted(
    (left, right) => place(left) - place(right) || left.line - right.line || left.column - right.column,
  )
}

function convertService(
  context: ServiceContext,
  waiting: readonly Dependency[],
  document: ComposeDocument,
): ConvertedImage | undefined {
  const { service, value } = context
  const image = readImage(context)
  listNotKept(image ? value : withoutBuild(value), serviceKeys, context.omit)
  convertName(context)
  convertEnvironment(context, getFileVariables(document, service))
  convertLabels(context)
  convertProcess(context)
  convertPorts(context)
  convertVolumes(context)
  convertNetworks(context)
  convertHealthCheck(context)
  convertResources(context)
  convertRuntime(context)
  convertLogging(context)
  expectState(context, waiting)
  reportLinkAliases(context)
  applyCruxExtension(context)
  const config = checkConfig(context)
  return image && config && { ...image, config }
}

const getFileVariables = ({ envFileVariables }: ComposeDocument, service: string) =>
  Object.hasOwn(envFileVariables, service) ? (envFileVariables[service] ?? {}) : {}

/** A service without an image has an error at its build already. */
const withoutBuild = (value: ComposeRecord): ComposeRecord =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'build'))

function readImage(context: ServiceContext): Omit<ConvertedImage, 'config'> | undefined {
  const { service } = context
  const reference = toText(context.get('image'))?.trim()
  if (!reference) {
    if (context.get('build') !== undefined)
      context.error(['build'], 'Crux builds no images: push the built image to a registry, and name it with "image"')
    else context.error([], `${service} has no image: name one with "image"`)
    return undefined
  }
  const parsed = parseFullImageName(reference)
  if (!parsed.ok) {
    context.error(['image'], parsed.problem)
    return undefined
  }
  const position = context.locate(['image'])
  return { service, reference, ...parsed.image, position }
}

/** What other services wait for becomes what a start waits for before it starts the next container (docs/docker.md). */
function expectState(context: ServiceContext, waiting: readonly Dependency[]): void {
  const completed = waiting.find(({ condition }) => condition === 'service_completed_successfully')
  const healthy = waiting.find(({ condition }) => condition === 'service_healthy')
  if (completed) {
    context.config.expectedState = { state: 'exited', exitCode: 0 }
    if (healthy)
      context.warning(
        [],
        `${healthy.service} waits until ${context.service} is healthy, and ${completed.service} until it has ended. A start waits until it has ended`,
      )
    return
  }
  if (!healthy) return
  if (hasHealthTest(context.config.healthCheckConfig, {})) return
  // A start waits for a container with an expected state, and then for the health check of its image too.
  context.config.expectedState = { state: 'running' }
  const needed = `${healthy.service} waits until ${context.service} is healthy, but it has no healthcheck here`
  context.warning(
    [],
    `${needed}: if its image has none either, a start waits only until it runs. Add a healthcheck to it`,
  )
}

function reportLinkAliases(context: ServiceContext): void {
  for (const [index, link] of toTexts(context.get('links')).entries()) {
    const [name, alias] = link.split(':', 2)
    if (alias && alias !== name)
      context.omit(['links', index], `Links have no aliases: ${context.service} finds it as ${name}, not as ${alias}`)
  }
}

/** The full names of containers are unique on a node. */
function reportRepeatedNames(images: readonly ConvertedImage[], contexts: ReadonlyMap<string, ServiceContext>): void {
  const services = new Map<string, string>()
  for (const { service, config } of images) {
    const name = config.name ?? ''
    const other = name === '' ? undefined : services.get(name)
    const context = contexts.get(service)
    if (other !== undefined)
      context?.error(
        context.origins.get('name') ?? [],
        `The container of ${other} is called ${name} too: name one of them differently with container_name`,
      )
    else services.set(name, service)
  }
}

/** Compose separates services that have no network in common. */
function reportSharedNetwork(services: ComposeRecord, report: Report): void {
  const isSeparated = Object.values(services).some((service) => {
    const { networks } = toComposeRecord(service)
    const names = isComposeRecord(networks) ? Object.keys(networks) : toTexts(networks)
    return names.length > 0 && !names.includes('default')
  })
  if (!isSeparated || getMember(report.document.value, 'networks') === undefined) return
  const reason =
    'The containers of a deployment are also on its own network, so they reach each other: networks connect them with others, and separate none'
  report.omit(['networks'], null, reason)
}
