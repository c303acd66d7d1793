import { formatEnvFile } from '@crux/config-editor'
import { Download, Ellipsis, FileInput } from 'lucide-react'
import { type DragEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../../components/Button.tsx'
import { Menu, MenuItem } from '../../../components/Menu.tsx'
import { saveFile } from '../../../components/save-file.ts'
import { lazyComponent } from '../../../loading/lazy-component.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { Section } from '../form/Section.tsx'
import { KeyValueRows, useKeyValues } from '../rows/KeyValueRows.tsx'

const EnvImport = lazyComponent(async () => (await import('./EnvImport.tsx')).EnvImport)

/** Variables, with the way in and out as an `.env` file: by picker, by dropping it here, by pasting its lines. */
export function EnvironmentSection({ name }: { name: string }) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const list = useKeyValues('environment')
  const [file, setFile] = useState<string | null>(null)
  const [over, setOver] = useState(false)
  const set = list.rows.flatMap(({ row, origin }) =>
    row.key === '' || row.value === null || origin === 'removed' ? [] : [{ key: row.key, value: row.value }],
  )
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const [dropped] = event.dataTransfer.files
    if (dropped && !form.readOnly) void dropped.text().then(setFile)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a file may be dropped anywhere here; the menu does the same by keyboard
    <div
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={over ? 'rounded-box outline-2 outline-offset-2 outline-accent outline-dashed' : undefined}
    >
      <Section
        id="environment"
        trailing={<Count rows={list.rows} />}
        onAdd={list.add}
        reset="environment"
        actions={
          <Menu trigger={<IconButton icon={Ellipsis} size="sm" label={t('env.more')} />}>
            <MenuItem icon={FileInput} disabledReason={form.readOnly} onSelect={() => setFile('')}>
              {t('env.import')}
            </MenuItem>
            <MenuItem
              icon={Download}
              disabledReason={set.length === 0 && t('env.nothing')}
              onSelect={() => saveFile(`${name}.env`, [formatEnvFile(set)])}
            >
              {t('env.download')}
            </MenuItem>
          </Menu>
        }
      >
        <KeyValueRows list={list} label={t('section.environment')} onPasteFile={setFile} />
      </Section>
      {file !== null && <EnvImport text={file} onClose={() => setFile(null)} />}
    </div>
  )
}

/** "4 values from 3 layers". */
function Count({ rows }: Pick<ReturnType<typeof useKeyValues>, 'rows'>) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  if (rows.length === 0) return null
  if (!form.parent) return t('values.count', { count: rows.length })
  const sources = new Set(
    rows.map(({ row, origin }) =>
      origin === 'inherited' ? form.below.getOrigin(`environment.${row.key}`)?.configId : form.configId,
    ),
  )
  return t('values.layers', { count: rows.length, layers: t('values.from', { count: sources.size }) })
}
