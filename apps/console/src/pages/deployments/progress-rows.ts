import type { ResponseOf } from '@crux/contract'
import { shortImageTag } from '@crux/rules'
import { instanceName } from './instance-name.ts'
import { viewInstance } from './instance-view.ts'
import type { RowSubject } from './ProgressRow.tsx'
import type { Progress } from './progress.ts'
import type { Release } from './release.ts'

type Details = ResponseOf<'deployments.get'>
export type ProgressRowState = ReturnType<typeof progressRows>[number]

/** The images of a release, each with its progress. */
export const progressRows = (subjects: readonly RowSubject[], progress: Progress) =>
  subjects.map((subject) => {
    const instance = progress.instances[subject.instanceId]
    const isCause = progress.status === 'failed' && progress.failedInstanceId === subject.instanceId
    return { subject, instance, view: viewInstance(instance, progress.status, isCause) }
  })

/** A release names its images as they were then; before it is there, the deployment's own are shown. */
export function listSubjects(deployment: Details, release: Release | undefined): RowSubject[] {
  const short = (name: string) =>
    name.startsWith(`${deployment.prefix}-`) ? name.slice(deployment.prefix.length + 1) : name
  const getConfig = (id: string) => deployment.instances.find((instance) => instance.id === id)?.config.id
  if (release && release.instances.length > 0)
    return release.instances.map((instance) => ({
      instanceId: instance.instanceId,
      name: short(instance.containerName),
      tag: instance.imageTag,
      digest: instance.digest,
      configId: getConfig(instance.instanceId),
    }))
  return deployment.instances.map((instance) => ({
    instanceId: instance.id,
    name: instanceName(instance),
    tag: shortImageTag(instance.image.tag ?? '-'),
    configId: instance.config.id,
  }))
}
