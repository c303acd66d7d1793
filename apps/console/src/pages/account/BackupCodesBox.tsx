import { Download } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { getNode } from '../../api/identity.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { saveFile } from '../../components/save-file.ts'
import { Pill } from '../../components/Tag.tsx'
import { getBackupCodes } from './settings-nodes.ts'
import type { Settings } from './use-settings.ts'

/** Backup codes for users who lose their phone; each works once. New codes become valid when the user confirms that they are stored. */
export function BackupCodesBox({ settings }: { settings: Settings }) {
  const { t } = useTranslation('account')
  const { flow, pending, press, ask } = settings
  const codes = getBackupCodes(flow)
  const fresh = getNode(flow, 'lookup_secret_confirm') !== undefined
  const reveal = getNode(flow, 'lookup_secret_reveal') !== undefined
  const disable = getNode(flow, 'lookup_secret_disable') !== undefined
  const regenerate = getNode(flow, 'lookup_secret_regenerate') !== undefined
  const enrolled = reveal || disable
  const method = 'lookup_secret'
  const text = codes.map(({ code, used }) => (used ? `${code} (${t('backup.used')})` : code)).join('\n')
  const download = () => saveFile('crux-backup-codes.txt', [`${text}\n`])
  return (
    <Box
      title={t('backup.title')}
      trailing={enrolled && <Pill tone="accent">{t('factors.on')}</Pill>}
      actions={
        <>
          {reveal && (
            <Button size="sm" busy={pending} onClick={() => press({ method, lookup_secret_reveal: true })}>
              {t('backup.reveal')}
            </Button>
          )}
          {regenerate && (
            <Button
              size="sm"
              busy={pending}
              onClick={() => {
                const question = {
                  title: t('backup.againTitle'),
                  text: t('backup.againText'),
                  action: t('backup.again'),
                }
                const change = { method, lookup_secret_regenerate: true }
                return enrolled ? ask(question, change) : press(change)
              }}
            >
              {t(enrolled ? 'backup.again' : 'backup.make')}
            </Button>
          )}
          {disable && (
            <Button
              size="sm"
              variant="bad"
              busy={pending}
              onClick={() => {
                const question = {
                  title: t('backup.removeTitle'),
                  text: t('backup.removeText'),
                  action: t('backup.remove'),
                  danger: true,
                }
                return ask(question, { method, lookup_secret_disable: true }, t('backup.removed'))
              }}
            >
              {t('backup.remove')}
            </Button>
          )}
        </>
      }
    >
      {codes.length === 0 ? (
        <p className="px-3.5 py-3 text-ink-2">{t(enrolled ? 'backup.onText' : 'backup.text')}</p>
      ) : (
        <div className="grid gap-3 px-3.5 py-4">
          {fresh && <p className="text-ink-2">{t('backup.keep')}</p>}
          <ul className="mono grid w-fit grid-cols-2 gap-x-8 gap-y-1 rounded-box border border-line bg-sunken px-4 py-3 wide:grid-cols-3">
            {codes.map(({ code, used }, index) => (
              <li key={`${index}-${code}`} className={used ? 'text-ink-3 line-through' : undefined}>
                {used ? t('backup.used') : code}
              </li>
            ))}
          </ul>
          <div className="flex flex-wrap gap-2">
            <CopyButton text={text} withWord />
            <Button icon={Download} onClick={download}>
              {t('backup.download')}
            </Button>
            {fresh && (
              <Button
                variant="main"
                busy={pending}
                onClick={() => press({ method, lookup_secret_confirm: true }, t('backup.done'))}
              >
                {t('backup.confirm')}
              </Button>
            )}
          </div>
        </div>
      )}
    </Box>
  )
}
