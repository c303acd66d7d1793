import { useTranslation } from 'react-i18next'
import { ButtonLink } from '../../components/Button.tsx'
import { ActionMenu } from '../../components/Menu.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { Pill } from '../../components/Tag.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { RowAction } from '../../table/columns.ts'
import { sortRows } from '../../table/sort-rows.ts'
import type { VersionRow } from './version-row.ts'

type Props = {
  teamSlug: string
  projectId: string
  versions: VersionRow[]
  actions: (version: VersionRow) => readonly RowAction[]
}

export function VersionCards({ teamSlug, projectId, versions, actions }: Props) {
  const { t } = useTranslation('projects')
  return (
    <ul
      aria-label={t('details.versions')}
      className="grid gap-3 [grid-template-columns:repeat(auto-fill,minmax(280px,1fr))]"
    >
      {sortRows(versions, (version) => version.audit.updatedAt, 'desc').map((version) => (
        <li key={version.id} className="flex min-h-32 flex-col rounded-box border border-line bg-surface p-3.5">
          <div className="flex items-center gap-2">
            <TextLink {...links.version(teamSlug, projectId, version.id)} strong className="mono">
              {version.name}
            </TextLink>
            {version.default && <Pill tone="accent">{t('version.default')}</Pill>}
            <span className="ml-auto">
              <ActionMenu size="sm" actions={actions(version)} />
            </span>
          </div>
          <p className="mt-1.5 line-clamp-2 flex-1 text-ink-2">{version.changelog}</p>
          <div className="mt-2 flex items-center gap-2 text-small text-ink-2">
            <Pill>{t(`version.${version.type}`)}</Pill>
            <span className="ml-auto">
              <RelativeTime at={version.audit.updatedAt} />
            </span>
          </div>
          <div className="mt-2.5 flex gap-2">
            <ButtonLink {...links.version(teamSlug, projectId, version.id, 'images')} size="sm">
              {t('version.images')} {version.imageCount}
            </ButtonLink>
            <ButtonLink {...links.version(teamSlug, projectId, version.id, 'deployments')} size="sm">
              {t('version.deployments')} {version.deploymentCount}
            </ButtonLink>
          </div>
        </li>
      ))}
    </ul>
  )
}
