import { Fragment } from 'react'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { Entry } from './entry.ts'
import { subjectMark, useEventLabels } from './use-event-labels.ts'

type Props = { teamSlug: string; entry: Entry }

/** "Deployed Lab rolling on this-box": what happened in a sentence, with a link to what it happened to. */
export function EntrySentence({ teamSlug, entry }: Props) {
  const getLabel = useEventLabels()
  const [before = '', after = ''] = getLabel(entry, subjectMark).split(subjectMark)
  const { subject } = entry
  return (
    <Fragment>
      {before}
      {subject && (
        <TextLink {...linkTo(teamSlug, subject)} className="font-strong">
          {subject.name}
        </TextLink>
      )}
      {after}
    </Fragment>
  )
}

function linkTo(teamSlug: string, { kind, id, projectId }: NonNullable<Entry['subject']>) {
  switch (kind) {
    case 'deployment':
      return links.deployment(teamSlug, id)
    case 'version':
      return links.version(teamSlug, projectId ?? '', id)
    case 'project':
      return links.project(teamSlug, id)
    case 'node':
      return links.node(teamSlug, id)
    case 'registry':
      return links.registry(teamSlug, id)
    case 'config-bundle':
      return links.configBundle(teamSlug, id)
    case 'storage':
      return links.storage(teamSlug, id)
    case 'pipeline':
      return links.pipeline(teamSlug, id)
    case 'notification':
      return links.notification(teamSlug, id)
    case 'package':
      return links.package(teamSlug, id)
  }
}
