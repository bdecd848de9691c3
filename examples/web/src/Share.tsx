import { useState } from 'react';

/** The player's own link. Phones open their sheet for sharing; other browsers copy the link. */
export function Share({ link }: { link: string | null | undefined }) {
  const [done, setDone] = useState('');
  const share = async (url: string) => {
    try {
      if ('share' in navigator) return await navigator.share({ title: 'A gift for you', url });
      await (navigator as Navigator).clipboard.writeText(url);
      setDone('✓ The link is copied.');
    } catch {
      setDone('Nothing was shared. You can select the link above.');
    }
  };
  return (
    <section aria-labelledby="share" className="share">
      <h2 id="share">Invite friends</h2>
      {link ? (
        <>
          <p>
            <a href={link}>{link.replace(/^https?:\/\//, '')}</a>
          </p>
          <button type="button" onClick={() => share(link)}>
            Share my link
          </button>
        </>
      ) : (
        <p className="empty">Your link is not there yet. Come back later.</p>
      )}
      <p role="status">{done}</p>
    </section>
  );
}
