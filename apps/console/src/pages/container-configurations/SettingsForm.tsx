import { SlidersHorizontal } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { ExpectedStateSection, LogSection, NetworksSection, RestartSection, RoutingSection } from './ChoiceSections.tsx'
import { useConfigForm } from './config-context.ts'
import { GeneralSection } from './GeneralSection.tsx'
import { KeyValueSection } from './KeyValueSection.tsx'
import { OtherSection, setOtherFields } from './OtherSection.tsx'
import { PortsSection } from './PortsSection.tsx'
import { SectionNav } from './SectionNav.tsx'
import { type Group, type SectionId, sectionFields, sectionGroups, sectionIds } from './sections.ts'
import { useCurrentSection } from './use-current-section.ts'
import { VolumesSection } from './VolumesSection.tsx'

type Props = {
  fieldHasError: (field: string) => boolean
  defaultName: string
  prefix: string | undefined
  aside: ReactNode
}

/** All settings as a form, with the way to each of them. */
export function SettingsForm({ fieldHasError, defaultName, prefix, aside }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const [text, setText] = useState('')
  const [group, setGroup] = useState<Group | 'all'>('all')
  const current = useCurrentSection()
  const others = setOtherFields(form.own, form.parent)

  const fits = (id: SectionId) => {
    if (id === 'other' && others.length === 0) return false
    if (group !== 'all' && sectionGroups[id] !== group) return false
    const words = `${t(`section.${id}`)} ${t(`keywords.${id}`)} ${id === 'other' ? others.join(' ') : sectionFields[id].join(' ')}`
    return words.toLowerCase().includes(text.trim().toLowerCase())
  }
  const shown = sectionIds.filter(fits)
  const entries = shown.map((id) => ({
    id,
    title: t(`section.${id}`),
    count: countOf(id, form, others.length),
    error: id !== 'other' && sectionFields[id].some(fieldHasError),
  }))
  const clear = () => {
    setText('')
    setGroup('all')
  }
  const sections: Record<SectionId, ReactNode> = {
    general: <GeneralSection defaultName={defaultName} prefix={prefix} />,
    environment: <KeyValueSection field="environment" id="environment" />,
    ports: <PortsSection />,
    volumes: <VolumesSection />,
    routing: <RoutingSection />,
    expectedState: <ExpectedStateSection />,
    networks: <NetworksSection />,
    restart: <RestartSection />,
    log: <LogSection />,
    labels: <KeyValueSection field="dockerLabels" id="labels" />,
    other: <OtherSection />,
  }
  return (
    <div
      className={
        aside
          ? 'grid gap-4 min-[768px]:grid-cols-[176px_minmax(0,1fr)] min-[1200px]:grid-cols-[176px_minmax(0,1fr)_268px]'
          : 'grid gap-4 min-[768px]:grid-cols-[176px_minmax(0,1fr)]'
      }
    >
      <SectionNav entries={entries} text={text} onText={setText} current={current} />
      <div className="grid min-w-0 content-start gap-4">
        <div className="flex flex-wrap items-center gap-2">
          <Chips
            label={t('filter.label')}
            value={group}
            onChange={setGroup}
            options={(['all', 'common', 'docker', 'kubernetes'] as const).map((value) => ({
              value,
              label: value === 'all' ? t('common:all') : t(`group.${value}`),
            }))}
          />
          <SearchBox label={t('nav.find')} value={text} onChange={setText} className="min-w-40 flex-1 md:hidden" />
        </div>
        {shown.map((id) => (
          <div key={id}>{sections[id]}</div>
        ))}
        {shown.length === 0 && (
          <EmptyState
            icon={SlidersHorizontal}
            title={group === 'kubernetes' && text === '' ? t('filter.noKubernetes') : t('filter.nothing')}
            text={group === 'kubernetes' && text === '' ? t('filter.noKubernetesText') : t('filter.nothingText')}
            action={<Button onClick={clear}>{t('common:filter.reset')}</Button>}
          />
        )}
      </div>
      {aside && (
        <aside className="min-w-0 min-[768px]:max-[1199px]:col-start-2 min-[1200px]:sticky min-[1200px]:top-16 min-[1200px]:self-start">
          {aside}
        </aside>
      )}
    </div>
  )
}

function countOf(
  id: SectionId,
  { own, parent }: { own: ReturnType<typeof useConfigForm>['own']; parent: ReturnType<typeof useConfigForm>['parent'] },
  others: number,
): number | undefined {
  if (id === 'other') return others
  if (id !== 'environment' && id !== 'ports' && id !== 'volumes' && id !== 'labels') return undefined
  const lists = sectionFields[id].map((field) => {
    const mine = own[field]
    const theirs = parent?.[field]
    const keys = new Set([...keysOf(mine), ...keysOf(theirs)])
    return keys.size
  })
  return lists.reduce((sum, size) => sum + size, 0) || undefined
}

function keysOf(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.map(
    (row: { key?: string; path?: string; internal?: unknown; protocol?: string }) =>
      row.key ?? row.path ?? `${JSON.stringify(row.internal)}/${row.protocol ?? 'tcp'}`,
  )
}
