import type { Deployment } from '@crux/contract'

/** The version of a deployment in a list; a project without versions has one that only Crux gave a name. */
export function VersionName({ project, name }: { project: Pick<Deployment['project'], 'type'>; name: string }) {
  if (project.type === 'versionless') return <span className="text-ink-3 max-md:hidden">-</span>
  return <code>{name}</code>
}
