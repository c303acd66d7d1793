import type { ResponseOf } from '@crux/contract'
import { imageText } from '@crux/rules'
import { useNavigate } from '@tanstack/react-router'
import { Layers, ListTree, SlidersHorizontal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { ButtonLink } from '../../components/Button.tsx'
import { Checkbox } from '../../components/Checkbox.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { codeColumn } from '../../table/named-columns.tsx'
import type { Preview } from './change-lines.ts'
import { InstanceAction } from './InstanceChange.tsx'
import { instanceName } from './instance-name.ts'

type Details = ResponseOf<'deployments.get'>
type Instance = Details['instances'][number]
type Props = {
  teamSlug: string
  deployment: Details
  preview: Preview | undefined
  /** Instances that this start leaves out. */
  left: ReadonlySet<string>
  onLeft: (left: ReadonlySet<string>) => void
}

export function DeploymentInstances({ teamSlug, deployment, preview, left, onLeft }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const all = deployment.instances
  const toggle = (id: string, on: boolean) => {
    const next = new Set(left)
    if (on) next.delete(id)
    else next.add(id)
    onLeft(next)
  }
  const columns: Column<Instance>[] = [
    {
      id: 'chosen',
      header: (
        <Checkbox
          label={t('detail.all')}
          checked={left.size === 0 ? true : left.size === all.length ? false : 'indeterminate'}
          onChange={(on) => onLeft(on ? new Set() : new Set(all.map((instance) => instance.id)))}
        />
      ),
      cell: (instance) => (
        <Checkbox
          label={t('detail.choose', { name: instanceName(instance) })}
          checked={!left.has(instance.id)}
          onChange={(on) => toggle(instance.id, on)}
        />
      ),
      narrow: 'lead',
    },
    {
      id: 'name',
      header: t('detail.container'),
      cell: (instance) => (
        <TextLink {...links.containerConfiguration(teamSlug, instance.config.id)} strong>
          {instanceName(instance)}
        </TextLink>
      ),
      narrow: 'lead',
    },
    codeColumn('image', t('detail.image'), ({ image }) => imageText(image)),
    {
      id: 'registry',
      header: t('detail.registry'),
      cell: ({ image: { registry } }) => (
        <span className="text-ink-2" title={registry.name}>
          {registry.name}
        </span>
      ),
      grow: true,
      narrow: 'none',
    },
    {
      id: 'action',
      header: t('detail.action'),
      cell: (instance) => {
        const planned = preview?.instances.find((candidate) => candidate.instanceId === instance.id)
        return planned && !left.has(instance.id) ? (
          <InstanceAction instance={planned} />
        ) : (
          <span className="text-ink-3">-</span>
        )
      },
      narrow: 'end',
    },
  ]
  return (
    <Box
      title={t('detail.instances')}
      trailing={all.length}
      actions={
        <ButtonLink {...links.version(teamSlug, deployment.project.id, deployment.version.id, 'images')} size="sm">
          {t('detail.editImages')}
        </ButtonLink>
      }
    >
      {all.length === 0 ? (
        <p className="px-3 py-3 text-ink-2">{t('detail.noImages')}</p>
      ) : (
        <DataTable
          flush
          label={t('detail.instances')}
          rows={all}
          columns={columns}
          rowKey={(instance) => instance.id}
          initialSort={null}
          actions={(instance) => [
            {
              id: 'image-config',
              label: t('detail.imageConfig'),
              icon: Layers,
              inline: true,
              run: () => void navigate(links.containerConfiguration(teamSlug, instance.image.config.id)),
            },
            {
              id: 'instance-config',
              label: t('detail.instanceConfig'),
              icon: SlidersHorizontal,
              inline: true,
              run: () => void navigate(links.containerConfiguration(teamSlug, instance.config.id)),
            },
            {
              id: 'final-config',
              label: t('detail.finalConfig'),
              icon: ListTree,
              inline: true,
              run: () => void navigate(links.containerConfiguration(teamSlug, instance.config.id, 'final')),
            },
          ]}
        />
      )}
    </Box>
  )
}
