import { newId } from '@crux/config-editor'
import { markerSections } from '@crux/rules'
import { useTranslation } from 'react-i18next'
import { useConfigForm } from '../form/config-context.ts'
import { OriginPill } from '../form/Origin.tsx'
import { Section, Setting } from '../form/Section.tsx'
import { RowButton } from '../rows/RowButtons.tsx'
import { type PairRow, PairRows } from '../rows/TextRows.tsx'

type Field = 'labels' | 'annotations'
type MarkerSection = (typeof markerSections)[number]

/** Labels or annotations of the three things that Kubernetes makes of a container. */
export function MarkersSection({ field }: { field: Field }) {
  const id = field === 'labels' ? 'kubernetesLabels' : 'annotations'
  return (
    <Section id={id} reset={field}>
      <div className="grid gap-x-5 gap-y-4 p-3">
        {markerSections.map((section) => (
          <Markers key={section} field={field} section={section} />
        ))}
      </div>
    </Section>
  )
}

/** The rows of one of them: inherited ones, which can be removed here, and those of this layer. */
function Markers({ field, section }: { field: Field; section: MarkerSection }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own: readonly PairRow[] = form.own[field]?.[section] ?? []
  const taken = own.filter((row) => row.value === null)
  const keys = new Set(own.map((row) => row.key))
  const inherited = (form.parent?.[field]?.[section] ?? []).filter((row) => !keys.has(row.key) && row.value !== null)
  const set = (rows: readonly PairRow[]) => form.edit(field, { ...form.own[field], [section]: rows })
  return (
    <Setting label={t(`marker.${section}`)} error={form.getError(`${field}.${section}`)}>
      {inherited.length + taken.length > 0 && (
        <ul className="grid gap-1">
          {[...inherited, ...taken].map((row) => (
            <li key={row.key} className="flex items-center gap-2">
              {row.value === null ? (
                <s className="mono break-all text-ink-3">{row.key}</s>
              ) : (
                <span className="mono break-all">
                  {row.key}={row.value}
                </span>
              )}
              <span className="ml-auto flex items-center gap-1">
                <OriginPill own={row.value === null} part={`${field}.${section}.${row.key}`} />
                <RowButton
                  name={row.key}
                  origin={row.value === null ? 'removed' : 'inherited'}
                  onRemove={() => set(own.filter((other) => other !== row))}
                  onRemoveInherited={() => set([...own, { id: newId(), key: row.key, value: null }])}
                />
              </span>
            </li>
          ))}
        </ul>
      )}
      <PairRows
        property={`${field}.${section}`}
        label={t(`marker.${section}`)}
        rows={own.filter((row) => row.value !== null)}
        onChange={(rows) => set([...rows, ...taken])}
      />
    </Setting>
  )
}
