import {
  type LayeredRow,
  layerRows,
  newId,
  parsePastedVolumes,
  volumeChanges,
  withoutRow,
  withRow,
} from '@crux/config-editor'
import { type ContainerConfigFields, volumeTypes } from '@crux/contract'
import { isHostPath } from '@crux/rules'
import { useTranslation } from 'react-i18next'
import { Select } from '../../../components/Field.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { SettingReset } from '../form/Origin.tsx'
import { PresenceHighlight } from '../form/PresenceHighlight.tsx'
import { RowErrors, Section } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { rowProperty } from '../form/start-problems.ts'
import { RowTable, TableRow } from '../rows/RowTable.tsx'
import { useFocusRow } from '../rows/use-focus-row.ts'

type Volume = NonNullable<ContainerConfigFields['volumes']>[number]
const sameVolume = (a: Volume, b: Volume) => a.path === b.path || a.name === b.name

/** On Docker only volumes in memory have a size: others are directories on the node's disk. */
const isSized = ({ type, size }: Volume): boolean => type === 'mem' || type === 'tmp' || Boolean(size)

/** A name is a directory that Crux keeps for this container; an absolute path is a directory of the node itself. */
export function VolumesSection() {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const own = form.own.volumes ?? []
  const rows = layerRows<Volume>(own, form.parent?.volumes ?? [], sameVolume)
  const { rows: body, focusRow } = useFocusRow<HTMLTableSectionElement>()
  const set = (volumes: readonly Volume[]) => form.editAll(volumeChanges(form, volumes))
  const isDocker = form.nodeType === 'docker'
  const shown = {
    size: !isDocker || rows.some(({ row }) => isSized(row)),
    class: !isDocker || rows.some(({ row }) => row.class),
  }
  return (
    <Section
      id="volumes"
      trailing={rows.length > 0 ? t('values.count', { count: rows.length }) : undefined}
      actions={<SettingReset field="volumes" label={t('section.volumes')} />}
      onAdd={() => {
        const id = newId()
        set([...own, { id, name: '', path: '', size: null, type: 'rwo' }])
        focusRow(id)
      }}
    >
      {rows.length === 0 ? (
        <p className="px-3 py-2.5 text-ink-3">{t('empty.volumes')}</p>
      ) : (
        <RowTable
          label={t('section.volumes')}
          rows={body}
          columns={[
            { id: 'name', head: t('volumes.name') },
            { id: 'path', head: t('volumes.path') },
            { id: 'type', head: t('volumes.type'), width: 'w-[192px]' },
            ...(shown.size ? [{ id: 'size', head: t('volumes.size'), width: 'w-[84px]' }] : []),
            ...(shown.class
              ? [{ id: 'class', head: t('volumes.class'), width: 'w-[184px]', kubernetes: form.nodeType === null }]
              : []),
          ]}
        >
          {rows.map((layered) => (
            <VolumeRow
              key={layered.id}
              layered={layered}
              shown={shown}
              onChange={(part) => set(withRow(own, layered, part, newId))}
              onRemove={() => set(withoutRow(own, layered.index))}
              onPaste={(text) => {
                const found = parsePastedVolumes(text)
                if (!found || layered.origin !== 'own') return false
                set([...withoutRow(own, layered.index), ...found.map((volume) => ({ ...volume, id: newId() }))])
                return true
              }}
            />
          ))}
        </RowTable>
      )}
      <RowErrors errors={[form.errorOf('volumes')]} />
    </Section>
  )
}

type RowProps = {
  layered: LayeredRow<Volume>
  /** Optional columns. */
  shown: { size: boolean; class: boolean }
  onChange: (part: Partial<Volume>) => void
  onRemove: () => void
  onPaste: (text: string) => boolean
}

function VolumeRow({ layered, shown, onChange, onRemove, onPaste }: RowProps) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf, errorsBelow, nodeType, readOnly } = useConfigForm()
  const { row, index, origin } = layered
  const property = rowProperty('volumes', index, row)
  const error = (part: string) => errorOf(`${property}.${part}`)
  return (
    <TableRow
      layered={layered}
      part={`volumes.${row.path}`}
      name={row.name}
      errors={errorsBelow(property)}
      note={isHostPath(row.name) && <p className="text-small text-progress">{t('volumes.host')}</p>}
      onRemove={onRemove}
      cells={[
        <SettingInput
          key="name"
          lazy
          inputId={`volumes.${layered.id}.name`}
          label={t('volumes.name')}
          placeholder="data"
          value={row.name}
          error={error('name')}
          onChange={(name) => onChange({ name })}
          onPasteLines={onPaste}
        />,
        <SettingInput
          key="path"
          lazy
          inputId={`volumes.${layered.id}.path`}
          label={t('volumes.path')}
          placeholder="/var/lib/data"
          value={row.path}
          disabled={origin === 'inherited' || origin === 'override'}
          error={error('path')}
          onChange={(path) => onChange({ path })}
        />,
        <PresenceHighlight key="type" inputId={`volumes.${layered.id}.type`} className="w-full">
          <Select
            aria-label={t('volumes.type')}
            value={row.type ?? 'rwo'}
            disabled={readOnly !== null}
            onChange={(event) => onChange({ type: volumeTypes.find((type) => type === event.target.value) })}
          >
            {volumeTypes.map((type) => (
              <option key={type} value={type}>
                {t(`volumes.types.${type}`)}
              </option>
            ))}
          </Select>
        </PresenceHighlight>,
        ...(shown.size
          ? [
              (nodeType !== 'docker' || isSized(row)) && (
                <SettingInput
                  key="size"
                  inputId={`volumes.${layered.id}.size`}
                  label={t('volumes.size')}
                  placeholder="64Mi"
                  value={row.size ?? ''}
                  error={error('size')}
                  onChange={(size) => onChange({ size: size || null })}
                />
              ),
            ]
          : []),
        ...(shown.class
          ? [
              (nodeType !== 'docker' || row.class) && (
                <SettingInput
                  key="class"
                  inputId={`volumes.${layered.id}.class`}
                  label={t('volumes.class')}
                  placeholder={t('volumes.defaultClass')}
                  value={row.class ?? ''}
                  error={error('class')}
                  onChange={(text) => onChange({ class: text || null })}
                />
              ),
            ]
          : []),
      ]}
    />
  )
}
