import type { ProjectType } from '@crux/contract'

type Project = { name: string; type: ProjectType }

/** "Checkout 1.2.0", or "Lab" where the project has no versions: the one behind it has a name that only Crux gave it. */
export function versionTitle(project: Project, version: { name: string }): string {
  return project.type === 'versionless' ? project.name : `${project.name} ${version.name}`
}
