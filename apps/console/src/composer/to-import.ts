import type { ErrorDetail, ImportedImage } from '@crux/contract'
import type { ServiceResult } from './compose-result.ts'

/** The images of an import, in the order in which they start. A service without a registry cannot be imported and is left out. */
export const toImportedImages = (services: readonly ServiceResult[]): ImportedImage[] =>
  services.flatMap(({ registry, tag, config }) =>
    registry ? [{ registryId: registry.id, name: registry.imageName, tag, config }] : [],
  )

/** A problem that the server found in an image, with the name of its service in place of its index. */
export type ServiceProblem = { service: string; property: string; description: string }

export function findServiceProblems(
  details: readonly Partial<ErrorDetail>[],
  services: readonly ServiceResult[],
): ServiceProblem[] {
  return details.flatMap(({ property = '', description = '' }) => {
    const [prefix = '', index] = /^images\[(\d+)\]\.?(?:config\.?)?/.exec(property) ?? []
    const service = index === undefined ? undefined : services[Number(index)]
    return service ? [{ service: service.service, property: property.slice(prefix.length), description }] : []
  })
}
