import type { DeploymentStatus, ProjectType, VersionType } from '@crux/contract'
import type { Verdict } from './deployment-status.ts'

/** The data that decides about actions of a version: its type, its position in the chain, and the statuses of its deployments. */
export type VersionFacts = {
  type: VersionType
  projectType: ProjectType
  hasChild: boolean
  deploymentStatuses: readonly DeploymentStatus[]
}
export type VersionAction = 'edit' | 'edit-images' | 'delete' | 'increase'

const yes: Verdict = { allowed: true }
const no = (reason: string): Verdict => ({ allowed: false, reason })

/** Decides which actions a version allows. `edit` changes name and changelog, `edit-images` the content of the version. */
export function versionAction(action: VersionAction, facts: VersionFacts): Verdict {
  switch (action) {
    case 'increase':
      if (facts.projectType === 'versionless') return no('A versionless project has one version: convert it first')
      if (facts.type === 'rolling')
        return no('A rolling version is changed in place: only incremental ones are increased')
      return facts.hasChild ? no('The next version exists already') : yes
    case 'edit':
      if (facts.projectType === 'versionless') return no('The version of a versionless project cannot be changed')
      return editable(facts)
    case 'edit-images':
      return editable(facts)
    case 'delete':
      return deletable(facts)
  }
}

export const isVersionMutable = (facts: VersionFacts): boolean => versionAction('edit-images', facts).allowed
export const isVersionDeletable = (facts: VersionFacts): boolean => versionAction('delete', facts).allowed
export const isVersionIncreasable = (facts: VersionFacts): boolean => versionAction('increase', facts).allowed

function editable(facts: VersionFacts): Verdict {
  if (facts.type === 'rolling') return yes
  if (facts.hasChild) return no('A newer version was made from this one: change that')
  return facts.deploymentStatuses.some(fixesIncremental)
    ? no('This version is deployed, which fixes it: increase it to change something')
    : yes
}

function deletable(facts: VersionFacts): Verdict {
  if (facts.type === 'incremental') return editable(facts)
  if (facts.projectType === 'versionless') return no('A versionless project keeps its one version: delete the project')
  return facts.deploymentStatuses.some((status) => status === 'in-progress' || status === 'obsolete')
    ? no('A deployment of this version is in progress or obsolete')
    : yes
}

const fixesIncremental = (status: DeploymentStatus) => status !== 'preparing' && status !== 'failed'
