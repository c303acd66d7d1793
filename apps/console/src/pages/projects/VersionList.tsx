import { useNavigate } from '@tanstack/react-router'
import { CircleCheckBig, CopyPlus, FileCode2, GitCommitHorizontal, Plus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Pill } from '../../components/Tag.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useViewMode } from '../../stores/view-mode.ts'
import type { Column, RowAction } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { numberColumn, timeColumn } from '../../table/named-columns.tsx'
import { ViewModeSwitch } from '../../table/ViewModeSwitch.tsx'
import { useSetDefault } from '../versions/use-set-default.ts'
import { VersionCards } from './VersionCards.tsx'
import type { Project, VersionRow } from './version-row.ts'

const VersionForm = lazyComponent(async () => (await import('../../forms/version-form.tsx')).VersionForm)

type Props = { teamSlug: string; project: Project; onCreate: () => void }

export function VersionList({ teamSlug, project, onCreate }: Props) {
  const { t } = useTranslation('projects')
  const createDenied = useDenied('versions.create')
  const importDenied = useDenied('versions.import')
  const increaseDenied = useDenied('versions.increase')
  const setDefault = useSetDefault(teamSlug, project.id)
  const columns = useColumns(teamSlug, project.id)
  const navigate = useNavigate()
  const [mode, setMode] = useViewMode('versions')
  const [increased, setIncreased] = useState<VersionRow | null>(null)

  const actions = (version: VersionRow): RowAction[] => [
    {
      id: 'increase',
      icon: CopyPlus,
      label: t('version.increase', { name: version.name }),
      inline: true,
      disabledReason: increaseDenied ?? (version.increasable ? null : t('version.notIncreasable')),
      run: () => setIncreased(version),
    },
    {
      id: 'default',
      icon: CircleCheckBig,
      label: t('version.setDefault'),
      inline: true,
      disabledReason: setDefault.denied ?? (version.default ? t('version.isDefault') : null),
      run: () => void setDefault.ask(version),
    },
    {
      id: 'images',
      label: t('version.images'),
      run: () => void navigate(links.version(teamSlug, project.id, version.id, 'images')),
    },
    {
      id: 'deployments',
      label: t('version.deployments'),
      run: () => void navigate(links.version(teamSlug, project.id, version.id, 'deployments')),
    },
  ]
  const add = (
    <>
      <Button
        icon={FileCode2}
        disabledReason={importDenied}
        onClick={() => void navigate(links.composer({ project: project.id }))}
      >
        {t('details.importCompose')}
      </Button>
      <Button variant="main" icon={Plus} disabledReason={createDenied} onClick={onCreate}>
        {t('details.addVersion')}
      </Button>
    </>
  )
  if (project.versions.length === 0)
    return (
      <EmptyState
        icon={GitCommitHorizontal}
        title={t('details.noVersions')}
        text={t('details.noVersionsText')}
        action={add}
      />
    )

  return (
    <>
      <FilteredList
        rows={project.versions}
        search={t('details.versionFilter')}
        searchText={(version) => [version.name, version.changelog, version.type]}
        trailing={<ViewModeSwitch value={mode} onChange={setMode} />}
      >
        {(rows) =>
          mode === 'tile' ? (
            <VersionCards teamSlug={teamSlug} projectId={project.id} versions={rows} actions={actions} />
          ) : (
            <DataTable
              label={t('details.versions')}
              rows={rows}
              columns={columns}
              rowKey={(version) => version.id}
              actions={actions}
              initialSort={{ column: 'updated', direction: 'desc' }}
            />
          )
        }
      </FilteredList>
      {increased && (
        <VersionForm
          teamSlug={teamSlug}
          projectId={project.id}
          version={increased}
          increase
          onClose={() => setIncreased(null)}
        />
      )}
    </>
  )
}

function useColumns(teamSlug: string, projectId: string): Column<VersionRow>[] {
  const { t } = useTranslation('projects')
  return [
    {
      id: 'name',
      header: t('version.name'),
      narrow: 'title',
      sort: (version) => version.name,
      cell: (version) => (
        <span className="inline-flex items-center gap-2">
          <TextLink {...links.version(teamSlug, projectId, version.id)} strong className="mono">
            {version.name}
          </TextLink>
          {version.default && <Pill tone="accent">{t('version.default')}</Pill>}
        </span>
      ),
    },
    {
      id: 'type',
      header: t('version.type'),
      narrow: 'lead',
      sort: (version) => version.type,
      cell: (version) => <Pill>{t(`version.${version.type}`)}</Pill>,
    },
    numberColumn('images', t('version.images'), (version) => version.imageCount),
    numberColumn('deployments', t('version.deployments'), (version) => version.deploymentCount),
    {
      id: 'changelog',
      header: t('version.changelog'),
      grow: true,
      cell: (version) => <span className="text-ink-2">{version.changelog}</span>,
    },
    timeColumn('updated', t('version.updated'), (version) => version.audit.updatedAt),
  ]
}
