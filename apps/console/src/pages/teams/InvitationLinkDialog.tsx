import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { Dialog } from '../../components/Dialog.tsx'

type Props = { email: string; link: string; onClose: () => void }

/** Shown once if no mail server is set: only the inviter can pass on the link. */
export function InvitationLinkDialog({ email, link, onClose }: Props) {
  const { t } = useTranslation(['teams', 'common'])
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('invite.linkTitle', { email })}
      description={t('invite.linkText')}
      width="wide:w-[560px]"
      footer={
        <>
          <Button onClick={onClose}>{t('common:close')}</Button>
          <CopyButton text={link} label={t('invite.copyLink')} withWord />
        </>
      }
    >
      <code className="block rounded-md border border-line bg-sunken p-2.5 break-all select-all">{link}</code>
    </Dialog>
  )
}
