import { type ComposeProblem, convertCompose, readCompose } from '@crux/compose'
import { configToJson, getImageHost, hostDangers, matchRegistry } from '@crux/rules'
import type { ComposeInput, ComposeResult, Registry, ServiceResult } from './compose-result.ts'

/** Reads and converts the files, and finds the registry of each image. Pure; the worker calls it. */
export function computeResult({ registries, ...input }: ComposeInput): ComposeResult {
  const read = readCompose(input)
  const converted = read.document ? convertCompose(read.document) : { images: [], problems: [], notKept: [] }
  const files = [...input.files, ...input.envFiles].map(({ name }) => name)
  const compare = compareBy(files)
  const problems = [...read.problems, ...converted.problems].sort((a, b) => rank(a) - rank(b) || compare(a, b))
  const notKept = [...read.notKept, ...converted.notKept].sort(compare)
  const problemsByService = Map.groupBy(problems, ({ service }) => service)
  const notKeptByService = Map.groupBy(notKept, ({ service }) => service)
  const services = converted.images.map((image) => ({
    ...image,
    ...findRegistry(image.name, registries),
    dangers: hostDangers(image.config),
    problems: problemsByService.get(image.service) ?? [],
    notKept: notKeptByService.get(image.service) ?? [],
    json: JSON.stringify(configToJson(image.config, { base: true }), null, 2),
  }))
  const shown = new Set(services.map(({ service }) => service))
  const failedServices = [
    ...new Set(
      problems.flatMap(({ level, service }) => (level === 'error' && service && !shown.has(service) ? [service] : [])),
    ),
  ]
  const missingHosts = [...new Set(services.flatMap(({ registry, host }) => (registry ? [] : [host])))]
  return { services, failedServices, problems, notKept, missingHosts }
}

function findRegistry(name: string, registries: readonly Registry[]): Pick<ServiceResult, 'registry' | 'host'> {
  const match = matchRegistry(name, registries)
  const registry = match && { id: match.registry.id, name: match.registry.name, imageName: match.imageName }
  return { registry: registry ?? null, host: getImageHost(name) }
}

/** In the order of the files and their lines. */
function compareBy(files: readonly string[]): (a: Place, b: Place) => number {
  const order = new Map(files.map((name, index) => [name, index]))
  const getFile = ({ file }: Place) => order.get(file) ?? order.size
  return (a, b) => getFile(a) - getFile(b) || a.line - b.line || a.column - b.column
}

type Place = { file: string; line: number; column: number }

const rank = ({ level }: ComposeProblem) => (level === 'error' ? 0 : 1)
