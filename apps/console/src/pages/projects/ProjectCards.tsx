import type { ResponseOf } from '@crux/contract'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { Pill } from '../../components/Tag.tsx'
import { links } from '../../routing/links.ts'
import { sortRows } from '../../table/sort-rows.ts'

type Project = ResponseOf<'projects.list'>[number]

/** Projects to pick visually, by name. The whole card is the link. */
export function ProjectCards({ teamSlug, projects }: { teamSlug: string; projects: Project[] }) {
  const { t } = useTranslation('projects')
  return (
    <ul aria-label={t('title')} className="grid gap-3 [grid-template-columns:repeat(auto-fill,minmax(260px,1fr))]">
      {sortRows(projects, (project) => project.name, 'asc').map((project) => (
        <li key={project.id}>
          <Link
            {...links.project(teamSlug, project.id)}
            className="flex h-full min-h-32 flex-col rounded-box border border-line bg-surface p-3.5 hover:border-line-strong hover:bg-hover"
          >
            <span className="flex items-center gap-2.5">
              <span
                aria-hidden
                className="grid size-7 shrink-0 place-items-center rounded-md bg-accent-soft font-semibold text-accent"
              >
                {project.name.slice(0, 1).toUpperCase()}
              </span>
              <span className="min-w-0 truncate font-semibold">{project.name}</span>
            </span>
            <span className="mt-2 line-clamp-2 flex-1 text-ink-2">{project.description}</span>
            <span className="mt-2.5 flex items-center gap-2 text-small text-ink-2">
              <Pill>{t(`type.${project.type}`)}</Pill>
              {project.type === 'versioned' && t('versionCount', { count: project.versionCount })}
              <span className="ml-auto">
                <RelativeTime at={project.audit.updatedAt} />
              </span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
