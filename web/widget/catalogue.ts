// The widget's texts. The type requires every locale to have all of them.

export type PluralForms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

export interface Words {
  open: string;
  close: string;
  newChat: string;
  region: string;
  log: string;
  greeting: string;
  hint: string;
  starters: string;
  placeholder: string;
  send: string;
  stop: string;
  retry: string;
  you: string;
  sending: string;
  searching: string;
  thinking: string;
  reconnecting: string;
  stopped: string;
  truncated: string;
  lowConfidence: string;
  sources: string;
  source: string;
  unconfirmed: string;
  passage: string;
  newTab: string;
  helpful: string;
  notHelpful: string;
  thanks: string;
  reasonLabel: string;
  reasonSend: string;
  reasonSkip: string;
  latest: string;
  offline: string;
  tooLong: string;
  charsLeft: PluralForms;
  sourceCount: PluralForms;
  quota: string;
  quotaIn: string;
  busy: string;
  failed: string;
  network: string;
  expired: string;
  unavailable: string;
  disclaimer: string;
}

const en: Words = {
  open: 'Open chat', close: 'Close chat', newChat: 'Start over', region: 'Chat', log: 'Messages',
  greeting: 'How can I help?', hint: 'Answers come from this site’s pages and name their sources.', starters: 'Questions to start with',
  placeholder: 'Ask a question', send: 'Send', stop: 'Stop', retry: 'Try again', you: 'You',
  sending: 'One moment', searching: 'Looking through the pages', thinking: 'Writing', reconnecting: 'Connection lost, trying again',
  stopped: 'Stopped.', truncated: 'This answer was shortened.', lowConfidence: 'I am not sure about this. Please check the sources.',
  sources: 'Sources', source: 'Source {n}: {title}', unconfirmed: 'not confirmed by this source', passage: 'Characters {start} to {end} of the page',
  newTab: 'opens in a new tab',
  helpful: 'Helpful', notHelpful: 'Not helpful', thanks: 'Thank you.', reasonLabel: 'What was wrong? (optional)', reasonSend: 'Send', reasonSkip: 'Skip',
  latest: 'Jump to the latest message', offline: 'You are offline. You can ask as soon as you are back.',
  tooLong: 'This is too long.', charsLeft: { one: '{n} character left', other: '{n} characters left' },
  sourceCount: { one: '{n} source.', other: '{n} sources.' },
  quota: 'The limit of questions is reached. Please try later.', quotaIn: 'The limit of questions is reached. Please try again {time}.',
  busy: 'Too many people are asking just now. Please try again in a moment.', failed: 'Something went wrong with this answer.',
  network: 'The connection was lost.', expired: 'This conversation has ended. Please start over.',
  unavailable: 'The chat is not available here.', disclaimer: 'Answers can be wrong: the sources count.',
};

const de: Words = {
  open: 'Chat öffnen', close: 'Chat schließen', newChat: 'Neu beginnen', region: 'Chat', log: 'Nachrichten',
  greeting: 'Wie kann ich helfen?', hint: 'Antworten stammen von den Seiten dieser Website und nennen ihre Quellen.', starters: 'Fragen zum Anfangen',
  placeholder: 'Stellen Sie eine Frage', send: 'Senden', stop: 'Anhalten', retry: 'Noch einmal', you: 'Sie',
  sending: 'Einen Moment', searching: 'Ich sehe die Seiten durch', thinking: 'Ich schreibe', reconnecting: 'Verbindung verloren, neuer Versuch',
  stopped: 'Angehalten.', truncated: 'Diese Antwort wurde gekürzt.', lowConfidence: 'Hier bin ich nicht sicher. Bitte sehen Sie in den Quellen nach.',
  sources: 'Quellen', source: 'Quelle {n}: {title}', unconfirmed: 'von dieser Quelle nicht bestätigt', passage: 'Zeichen {start} bis {end} der Seite',
  newTab: 'öffnet einen neuen Tab',
  helpful: 'Hilfreich', notHelpful: 'Nicht hilfreich', thanks: 'Danke.', reasonLabel: 'Was war falsch? (freiwillig)', reasonSend: 'Senden', reasonSkip: 'Überspringen',
  latest: 'Zur neuesten Nachricht', offline: 'Sie sind offline. Fragen gehen wieder, sobald Sie verbunden sind.',
  tooLong: 'Das ist zu lang.', charsLeft: { one: 'noch {n} Zeichen', other: 'noch {n} Zeichen' },
  sourceCount: { one: '{n} Quelle.', other: '{n} Quellen.' },
  quota: 'Die Zahl der Fragen ist erreicht. Bitte versuchen Sie es später.', quotaIn: 'Die Zahl der Fragen ist erreicht. Bitte versuchen Sie es {time} wieder.',
  busy: 'Gerade fragen zu viele. Bitte versuchen Sie es gleich noch einmal.', failed: 'Bei dieser Antwort ging etwas schief.',
  network: 'Die Verbindung ging verloren.', expired: 'Dieses Gespräch ist zu Ende. Bitte beginnen Sie neu.',
  unavailable: 'Der Chat ist hier nicht verfügbar.', disclaimer: 'Antworten können falsch sein: Es gelten die Quellen.',
};

const fr: Words = {
  open: 'Ouvrir la discussion', close: 'Fermer la discussion', newChat: 'Recommencer', region: 'Discussion', log: 'Messages',
  greeting: 'Comment puis-je vous aider ?', hint: 'Les réponses viennent des pages de ce site et citent leurs sources.', starters: 'Questions pour commencer',
  placeholder: 'Posez une question', send: 'Envoyer', stop: 'Arrêter', retry: 'Réessayer', you: 'Vous',
  sending: 'Un instant', searching: 'Je parcours les pages', thinking: 'J’écris', reconnecting: 'Connexion perdue, nouvel essai',
  stopped: 'Arrêté.', truncated: 'Cette réponse a été raccourcie.', lowConfidence: 'Je n’en suis pas certain. Vérifiez les sources.',
  sources: 'Sources', source: 'Source {n} : {title}', unconfirmed: 'non confirmé par cette source', passage: 'Caractères {start} à {end} de la page',
  newTab: 's’ouvre dans un nouvel onglet',
  helpful: 'Utile', notHelpful: 'Pas utile', thanks: 'Merci.', reasonLabel: 'Qu’est-ce qui n’allait pas ? (facultatif)', reasonSend: 'Envoyer', reasonSkip: 'Passer',
  latest: 'Aller au dernier message', offline: 'Vous êtes hors ligne. Vous pourrez demander dès votre retour.',
  tooLong: 'C’est trop long.', charsLeft: { one: 'encore {n} caractère', other: 'encore {n} caractères' },
  sourceCount: { one: '{n} source.', other: '{n} sources.' },
  quota: 'La limite de questions est atteinte. Réessayez plus tard.', quotaIn: 'La limite de questions est atteinte. Réessayez {time}.',
  busy: 'Trop de demandes en ce moment. Réessayez dans un instant.', failed: 'Cette réponse a échoué.',
  network: 'La connexion a été perdue.', expired: 'Cette conversation est terminée. Veuillez recommencer.',
  unavailable: 'La discussion n’est pas disponible ici.', disclaimer: 'Une réponse peut être fausse : les sources font foi.',
};

const es: Words = {
  open: 'Abrir el chat', close: 'Cerrar el chat', newChat: 'Empezar de nuevo', region: 'Chat', log: 'Mensajes',
  greeting: '¿En qué puedo ayudar?', hint: 'Las respuestas salen de las páginas de este sitio y citan sus fuentes.', starters: 'Preguntas para empezar',
  placeholder: 'Haga una pregunta', send: 'Enviar', stop: 'Detener', retry: 'Intentar de nuevo', you: 'Usted',
  sending: 'Un momento', searching: 'Busco en las páginas', thinking: 'Escribo', reconnecting: 'Conexión perdida, nuevo intento',
  stopped: 'Detenido.', truncated: 'Esta respuesta se ha acortado.', lowConfidence: 'No estoy seguro de esto. Consulte las fuentes.',
  sources: 'Fuentes', source: 'Fuente {n}: {title}', unconfirmed: 'no confirmado por esta fuente', passage: 'Caracteres {start} a {end} de la página',
  newTab: 'se abre en otra pestaña',
  helpful: 'Útil', notHelpful: 'No útil', thanks: 'Gracias.', reasonLabel: '¿Qué estaba mal? (opcional)', reasonSend: 'Enviar', reasonSkip: 'Omitir',
  latest: 'Ir al último mensaje', offline: 'Está sin conexión. Podrá preguntar cuando vuelva.',
  tooLong: 'Es demasiado largo.', charsLeft: { one: 'queda {n} carácter', other: 'quedan {n} caracteres' },
  sourceCount: { one: '{n} fuente.', other: '{n} fuentes.' },
  quota: 'Se alcanzó el límite de preguntas. Inténtelo más tarde.', quotaIn: 'Se alcanzó el límite de preguntas. Inténtelo {time}.',
  busy: 'Hay demasiadas preguntas ahora. Inténtelo en un momento.', failed: 'Algo falló con esta respuesta.',
  network: 'Se perdió la conexión.', expired: 'Esta conversación ha terminado. Empiece de nuevo.',
  unavailable: 'El chat no está disponible aquí.', disclaimer: 'Una respuesta puede ser errónea: valen las fuentes.',
};

const ar: Words = {
  open: 'افتح المحادثة', close: 'أغلق المحادثة', newChat: 'ابدأ من جديد', region: 'محادثة', log: 'الرسائل',
  greeting: 'كيف يمكنني المساعدة؟', hint: 'تأتي الإجابات من صفحات هذا الموقع وتذكر مصادرها.', starters: 'أسئلة للبدء',
  placeholder: 'اطرح سؤالا', send: 'أرسل', stop: 'توقف', retry: 'حاول مرة أخرى', you: 'أنت',
  sending: 'لحظة من فضلك', searching: 'أبحث في الصفحات', thinking: 'أكتب', reconnecting: 'انقطع الاتصال، محاولة جديدة',
  stopped: 'توقفت.', truncated: 'تم اختصار هذه الإجابة.', lowConfidence: 'لست متأكدا من هذا. يرجى مراجعة المصادر.',
  sources: 'المصادر', source: 'المصدر {n}: {title}', unconfirmed: 'لا يؤكده هذا المصدر', passage: 'الأحرف من {start} إلى {end} في الصفحة',
  newTab: 'يفتح في علامة تبويب جديدة',
  helpful: 'مفيد', notHelpful: 'غير مفيد', thanks: 'شكرا لك.', reasonLabel: 'ما الخطأ؟ (اختياري)', reasonSend: 'أرسل', reasonSkip: 'تخط',
  latest: 'اذهب إلى آخر رسالة', offline: 'أنت غير متصل. يمكنك السؤال عند عودة الاتصال.',
  tooLong: 'هذا طويل جدا.',
  charsLeft: { zero: 'لم يبق أي حرف', one: 'بقي حرف واحد', two: 'بقي حرفان', few: 'بقيت {n} أحرف', many: 'بقي {n} حرفا', other: 'بقي {n} حرف' },
  sourceCount: { zero: 'لا مصادر.', one: 'مصدر واحد.', two: 'مصدران.', few: '{n} مصادر.', many: '{n} مصدرا.', other: '{n} مصدر.' },
  quota: 'بلغت حد الأسئلة. يرجى المحاولة لاحقا.', quotaIn: 'بلغت حد الأسئلة. يرجى المحاولة {time}.',
  busy: 'الأسئلة كثيرة الآن. يرجى المحاولة بعد لحظات.', failed: 'حدث خطأ في هذه الإجابة.',
  network: 'انقطع الاتصال.', expired: 'انتهت هذه المحادثة. يرجى البدء من جديد.',
  unavailable: 'المحادثة غير متاحة هنا.', disclaimer: 'قد تخطئ الإجابات: العبرة بالمصادر.',
};

export const catalogues: Readonly<Record<string, Words>> = { en, de, fr, es, ar };
