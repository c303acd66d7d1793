import type { ResponseOf } from '@crux/contract'
import { shortDigest } from './short-digest.ts'

export type Preview = ResponseOf<'deployments.preview'>
export type PreviewInstance = Preview['instances'][number]
export type ChangeLine = { sign: '-' | '+'; text: string }

/** Whether it prevents a start. Another protected deployment in the way, and a freeze, are asked about at the start. */
export const isBlocking = ({ property }: Preview['problems'][number]): boolean =>
  property !== 'protectedDeploymentId' && property !== 'freezeWindow'
export const blockingProblems = (preview: Preview | undefined) => preview?.problems.filter(isBlocking) ?? []

/** The freeze of its node and prefix: only an admin may start it, with a reason. */
export const findFreeze = (preview: Preview | undefined) =>
  preview?.problems.find(({ property }) => property === 'freezeWindow')

/** Unconfirmed host-dangerous settings: a start by an admin confirms them. */
export const unconfirmedDangers = ({ hostDangerous = [] }: Preview) => hostDangerous.filter((one) => !one.confirmed)

/** The description of a problem without the container's name, for places that show the name themselves. */
export const withoutName = (description: string, containerName: string | undefined): string =>
  containerName !== undefined && description.startsWith(`${containerName}: `)
    ? description.slice(containerName.length + 2)
    : description

/** What changes as the two sides of a diff: "- LOG_LEVEL=info", "+ LOG_LEVEL=debug", "+ ports 8080:80". */
export function changeLines(changes: PreviewInstance['changes']): ChangeLine[] {
  return changes.flatMap(({ property, from, to }) => {
    const lines: ChangeLine[] = []
    if (from !== null && from !== undefined) lines.push({ sign: '-', text: toLine(property, from) })
    if (to !== null && to !== undefined) lines.push({ sign: '+', text: toLine(property, to) })
    return lines
  })
}

/** Rows that are named by a key read as `KEY=value`; a value that has its own name follows its field. */
function toLine(property: string, value: string): string {
  if (property === 'digest') return `digest ${shortDigest(value)}`
  const cut = property.indexOf('.')
  if (cut < 0) return `${property} ${value}`
  const field = property.slice(0, cut)
  const key = property.slice(cut + 1)
  // Of the image of an init or config container.
  if (field === 'digest') return `${key} ${shortDigest(value)}`
  if (field === 'environment') return `${key}=${value}`
  if (field === 'ports' || field === 'portRanges' || field === 'volumes' || field === 'networks')
    return `${field} ${value}`
  return `${field} ${key}=${value}`
}
