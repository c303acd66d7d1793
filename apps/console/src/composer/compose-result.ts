import type { ComposeProblem, ConvertedImage, NotKept, ReadInput } from '@crux/compose'
import type { ResponseOf } from '@crux/contract'
import type { HostDanger } from '@crux/rules'

export type Registry = ResponseOf<'registries.list'>[number]

/** What the worker is asked: the files, and the registries of the team. */
export type ComposeInput = ReadInput & { registries: readonly Registry[] }

/** A service as its card shows it. */
export type ServiceResult = ConvertedImage & {
  /** The registry of the image, and the name of the image in it; null if the team has no registry for it. */
  registry: { id: string; name: string; imageName: string } | null
  /** The host of the image, such as `docker.io`. */
  host: string
  /** Settings that only an admin may use. */
  dangers: HostDanger[]
  problems: ComposeProblem[]
  notKept: NotKept[]
  /** The configuration as text, as the JSON tab of its page shows it. */
  json: string
}

/** Plain data: it is sent from the worker to the page. */
export type ComposeResult = {
  /** In the order in which they start. */
  services: ServiceResult[]
  /** Services with an error, which have no container. */
  failedServices: string[]
  /** Of all files, errors first, then in the order of the files. */
  problems: ComposeProblem[]
  notKept: NotKept[]
  /** Hosts of images without a registry. */
  missingHosts: string[]
}

export const countErrors = (problems: readonly ComposeProblem[]): number =>
  problems.filter(({ level }) => level === 'error').length

/** The result with the services of the previous one where they did not change, so that their cards are not rendered again. */
export function keepUnchangedServices(previous: ComposeResult | null, next: ComposeResult): ComposeResult {
  const known = new Map(previous?.services.map((service) => [service.service, service]))
  const services = next.services.map((service) => {
    const before = known.get(service.service)
    return before && JSON.stringify(before) === JSON.stringify(service) ? before : service
  })
  return { ...next, services }
}
