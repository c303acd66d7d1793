import { useTranslation } from 'react-i18next'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { BoardProject } from './board.ts'

/** The head of a row: the project, and the latest version of its chain. */
export function ProjectHead({ teamSlug, project: { project, latest } }: { teamSlug: string; project: BoardProject }) {
  const { t } = useTranslation('packages')
  return (
    <>
      <TextLink
        {...links.project(teamSlug, project.id)}
        className="block truncate font-semibold text-ink!"
        title={project.name}
      >
        {project.name}
      </TextLink>
      {latest && (
        <span className="block truncate text-small font-normal text-ink-2" title={latest.name}>
          {t('board.latest', { version: latest.name })}
        </span>
      )}
    </>
  )
}
