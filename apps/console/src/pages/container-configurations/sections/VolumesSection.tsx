import { newId, parsePastedVolumes, volumeChanges, withoutRow } from '@crux/config-editor'
import { type ContainerConfigFields, volumeTypes } from '@crux/contract'
import { isHostPath, sameVolume } from '@crux/rules'
import { useTranslation } from 'react-i18next'
import { useConfigForm } from '../form/config-context.ts'
import { RowErrors, Section } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { type RowCell, RowTable } from '../rows/RowTable.tsx'
import { useLayeredRows } from '../rows/use-layered-rows.ts'
import { SettingSelect } from './SettingControls.tsx'

type Volume = NonNullable<ContainerConfigFields['volumes']>[number]
type Cell = RowCell<Volume>

/** On Docker only volumes in memory have a size: others are directories on the node's disk. */
const isSized = ({ type, size }: Volume): boolean => type === 'mem' || type === 'tmp' || Boolean(size)

/** A name is a directory that Crux keeps for this container; an absolute path is a directory of the node itself. */
export function VolumesSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const set = (volumes: readonly Volume[]) => form.editAll(volumeChanges(form, volumes))
  const list = useLayeredRows<Volume, HTMLTableSectionElement>({
    own: form.own.volumes,
    inherited: form.parent?.volumes,
    same: sameVolume,
    onChange: set,
  })
  const { own, rows } = list
  const isDocker = form.nodeType === 'docker'
  const size = {
    id: 'size',
    head: t('volumes.size'),
    width: 'w-[84px]',
    cell: ({ row, input, change }: Cell) =>
      (!isDocker || isSized(row)) && (
        <SettingInput
          {...input}
          placeholder="64Mi"
          value={row.size ?? ''}
          onChange={(text) => change({ size: text || null })}
        />
      ),
  }
  const storageClass = {
    id: 'class',
    head: t('volumes.class'),
    width: 'w-[184px]',
    kubernetes: form.nodeType === null,
    cell: ({ row, input, change }: Cell) =>
      (!isDocker || row.class) && (
        <SettingInput
          {...input}
          placeholder={t('volumes.defaultClass')}
          value={row.class ?? ''}
          onChange={(text) => change({ class: text || null })}
        />
      ),
  }
  return (
    <Section
      id="volumes"
      trailing={rows.length > 0 ? t('values.count', { count: rows.length }) : undefined}
      reset="volumes"
      onAdd={() => list.add((id) => ({ id, name: '', path: '', size: null, type: 'rwo' }))}
    >
      {rows.length === 0 ? (
        <p className="px-3 py-2.5 text-ink-3">{t('empty.volumes')}</p>
      ) : (
        <RowTable
          field="volumes"
          label={t('section.volumes')}
          list={list}
          getName={(row) => row.name}
          renderNote={(row) => isHostPath(row.name) && <p className="text-small text-progress">{t('volumes.host')}</p>}
          columns={[
            {
              id: 'name',
              head: t('volumes.name'),
              cell: ({ layered, row, input, change }) => (
                <SettingInput
                  {...input}
                  lazy
                  placeholder="data"
                  value={row.name}
                  onChange={(name) => change({ name })}
                  onPasteLines={(text) => {
                    const found = parsePastedVolumes(text)
                    if (!found || layered.origin !== 'own') return false
                    set([...withoutRow(own, layered.index), ...found.map((volume) => ({ ...volume, id: newId() }))])
                    return true
                  }}
                />
              ),
            },
            {
              id: 'path',
              head: t('volumes.path'),
              cell: ({ layered: { origin }, row, input, change }) => (
                <SettingInput
                  {...input}
                  lazy
                  placeholder="/var/lib/data"
                  value={row.path}
                  disabled={origin === 'inherited' || origin === 'override'}
                  onChange={(path) => change({ path })}
                />
              ),
            },
            {
              id: 'type',
              head: t('volumes.type'),
              width: 'w-[192px]',
              cell: ({ row, input, change }) => (
                <SettingSelect
                  inputId={input.inputId}
                  label={input.label}
                  value={row.type ?? 'rwo'}
                  onChange={(type) => change({ type })}
                  options={volumeTypes.map((type) => ({ value: type, label: t(`volumes.types.${type}`) }))}
                />
              ),
            },
            ...(!isDocker || rows.some(({ row }) => isSized(row)) ? [size] : []),
            ...(!isDocker || rows.some(({ row }) => row.class) ? [storageClass] : []),
          ]}
        />
      )}
      <RowErrors errors={[form.getError('volumes')]} />
    </Section>
  )
}
