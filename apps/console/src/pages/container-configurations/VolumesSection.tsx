import { type ContainerConfigFields, volumeTypes } from '@crux/contract'
import { isHostPath } from '@crux/rules'
import { ArrowRight } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Select } from '../../components/Field.tsx'
import { useConfigForm } from './config-context.ts'
import { RowEnd } from './KeyedRows.tsx'
import { layerRows, withoutRow, withRow } from './keyed-rows.ts'
import { Marked } from './Marked.tsx'
import { newId } from './new-id.ts'
import { SettingReset } from './Origin.tsx'
import { pastedVolumes } from './pasted-rows.ts'
import { RowErrors, Section } from './Section.tsx'
import { SettingInput } from './SettingInput.tsx'
import { volumeChanges } from './side-effects.ts'
import { useFocusRow } from './use-focus-row.ts'

type Volume = NonNullable<ContainerConfigFields['volumes']>[number]
const sameVolume = (a: Volume, b: Volume) => a.path === b.path || a.name === b.name

/** A name is a folder of this container that Crux keeps; an absolute path is a folder of the node itself. */
export function VolumesSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own = form.own.volumes ?? []
  const rows = layerRows<Volume>(own, form.parent?.volumes ?? [], sameVolume)
  const { rows: body, focusRow } = useFocusRow<HTMLDivElement>()
  const set = (volumes: readonly Volume[]) => form.editAll(volumeChanges(form, volumes))
  return (
    <Section
      id="volumes"
      aside={rows.length > 0 ? t('values.count', { count: rows.length }) : undefined}
      tools={<SettingReset field="volumes" label={t('section.volumes')} />}
      onAdd={() => {
        const id = newId()
        set([...own, { id, name: '', path: '', size: null, type: 'rwo' }])
        focusRow(id)
      }}
    >
      {rows.length === 0 && <p className="px-3 py-2.5 text-ink-3">{t('empty.volumes')}</p>}
      <div ref={body} className="grid gap-2 px-3 py-3 empty:hidden">
        {rows.map((layered) => {
          const { row, index, origin } = layered
          const change = (part: Partial<Volume>) => set(withRow(own, layered, part, newId))
          const error = (part: string) => (index < 0 ? undefined : form.errorOf(`volumes[${index}]${part}`))
          const sized = row.type === 'mem' || row.type === 'tmp' || form.nodeType !== 'docker' || Boolean(row.size)
          return (
            <div key={layered.id} data-row={row.id} className="grid gap-1">
              <div className="flex flex-wrap items-center gap-2">
                <SettingInput
                  className="w-[150px] max-md:flex-1"
                  lazy
                  inputId={`volumes.${layered.id}.name`}
                  label={t('volumes.name')}
                  placeholder={t('volumes.name')}
                  value={row.name}
                  error={error('.name')}
                  onChange={(name) => change({ name })}
                  onPasteLines={(text) => {
                    const found = pastedVolumes(text)
                    if (!found || origin !== 'own') return false
                    set([...withoutRow(own, index), ...found.map((volume) => ({ ...volume, id: newId() }))])
                    return true
                  }}
                />
                <ArrowRight aria-hidden className="text-ink-3" />
                <SettingInput
                  className="min-w-40 flex-1"
                  lazy
                  inputId={`volumes.${layered.id}.path`}
                  label={t('volumes.path')}
                  placeholder="/var/lib/data"
                  value={row.path}
                  disabled={origin === 'inherited' || origin === 'override'}
                  error={error('.path')}
                  onChange={(path) => change({ path })}
                />
                <Marked inputId={`volumes.${layered.id}.type`} className="w-52">
                  <Select
                    aria-label={t('volumes.type')}
                    value={row.type ?? 'rwo'}
                    disabled={form.readOnly !== null}
                    onChange={(event) => change({ type: volumeTypes.find((type) => type === event.target.value) })}
                  >
                    {volumeTypes.map((type) => (
                      <option key={type} value={type}>
                        {t(`volumes.types.${type}`)}
                      </option>
                    ))}
                  </Select>
                </Marked>
                {sized && (
                  <SettingInput
                    className="w-24"
                    inputId={`volumes.${layered.id}.size`}
                    label={t('volumes.size')}
                    placeholder="64Mi"
                    value={row.size ?? ''}
                    error={error('.size')}
                    onChange={(size) => change({ size: size || null })}
                  />
                )}
                {(form.nodeType !== 'docker' || row.class) && (
                  <SettingInput
                    className="w-28"
                    inputId={`volumes.${layered.id}.class`}
                    label={t('volumes.class')}
                    placeholder={t('volumes.class')}
                    value={row.class ?? ''}
                    error={error('.class')}
                    onChange={(text) => change({ class: text || null })}
                  />
                )}
                <RowEnd
                  layered={layered}
                  part={`volumes.${row.path}`}
                  name={row.name}
                  onRemove={() => set(withoutRow(own, index))}
                />
              </div>
              {isHostPath(row.name) && <p className="text-small text-progress">{t('volumes.host')}</p>}
            </div>
          )
        })}
      </div>
      <RowErrors errors={form.errorsBelow('volumes')} />
    </Section>
  )
}
