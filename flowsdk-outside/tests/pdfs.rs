//! PDFs that are read, and PDFs that mean harm.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flowsdk_outside::pdf::{LONGEST_TEXT, PdfFailure, PdfProcesses};
use flowsdk_outside::script::WorkerCommand;

fn processes(at_once: usize) -> PdfProcesses {
    let program = env!("CARGO_BIN_EXE_flowsdk-pdf-reader").into();
    PdfProcesses::new(WorkerCommand { program, arguments: Vec::new() }, at_once)
}

const PLAIN: &[u8] = include_bytes!("pdfs/plain.pdf");
const COMPRESSED: &[u8] = include_bytes!("pdfs/compressed.pdf");
/// Encrypted with a password.
const ENCRYPTED: &[u8] = include_bytes!("pdfs/encrypted.pdf");
/// Encrypted with an empty password.
const UNLOCKED: &[u8] = include_bytes!("pdfs/unlocked.pdf");
const PICTURE: &[u8] = include_bytes!("pdfs/picture.pdf");
/// A page of three GiB in six KiB.
const BOMB: &[u8] = include_bytes!("pdfs/bomb.pdf");

/// Returns a PDF with one page, of this content.
fn page(content: &str) -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
            /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    of(&objects)
}

/// Returns a PDF of these objects, the first of which is the catalogue.
fn of(objects: &[String]) -> Vec<u8> {
    let (mut pdf, mut places) = (String::from("%PDF-1.4\n"), String::new());
    for (at, object) in objects.iter().enumerate() {
        places += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let (table, size) = (pdf.len(), objects.len() + 1);
    pdf += &format!("xref\n0 {size}\n0000000000 65535 f \n{places}trailer\n<< /Size {size} /Root 1 0 R >>\n");
    pdf += &format!("startxref\n{table}\n%%EOF\n");
    pdf.into_bytes()
}

#[tokio::test]
async fn a_pdf_has_the_text_of_its_pages() {
    let processes = processes(1);
    let (menu, hours) =
        ("Cardápio\nO chá verde custa 12 reais.\nO café custa 9 reais.", "Horário\nAbrimos às nove");
    for pdf in [PLAIN, COMPRESSED] {
        let text = processes.read(pdf).await.expect("a text");
        assert!(text.contains(menu) && text.contains(hours), "{text}");
    }
    assert!(processes.read(UNLOCKED).await.expect("a text").contains(menu));
    assert_eq!(processes.read(PICTURE).await.expect("no text").trim(), "");
}

#[tokio::test]
async fn what_cannot_be_read_says_why() {
    let processes = processes(2);
    let deep = |open: &str, close: &str| open.repeat(300_000) + &close.repeat(300_000);
    let ring = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 1 >>"];
    for (name, pdf) in [
        ("nothing", Vec::new()),
        ("no PDF", b"%PDF-1.4 and nothing more".to_vec()),
        ("half of one", PLAIN[..PLAIN.len() / 2].to_vec()),
    ] {
        assert_eq!(processes.read(&pdf).await, Err(PdfFailure::Unreadable), "{name}");
    }
    assert_eq!(processes.read(ENCRYPTED).await, Err(PdfFailure::Encrypted));
    assert_eq!(processes.read(BOMB).await, Err(PdfFailure::Memory));
    // Whether their reader dies or finds nothing, whoever asked it lives on.
    for pdf in [
        of(&["[".repeat(200_000)]),
        of(&["<< /Type /Catalog /Pages 1 0 R /Kids [1 0 R] >>".to_owned()]),
        of(&ring.map(str::to_owned)),
        page(&deep("[", "]")),
        page(&deep("<< /A ", " >>")),
        page(&deep("(", ")")),
        page(&"q ".repeat(1_000_000)),
    ] {
        let _read = processes.read(&pdf).await;
    }
    assert!(processes.read(PLAIN).await.is_ok());
}

#[tokio::test]
async fn a_text_is_bounded() {
    let words = format!("BT /F1 12 Tf ({}) Tj ET\n", "a".repeat(1_000));
    let over = processes(1).read(&page(&words.repeat(LONGEST_TEXT / 1_000 + 1))).await;
    assert_eq!(over, Err(PdfFailure::TooLong));
}

#[tokio::test]
async fn a_process_that_cannot_be_started_or_is_no_reader_is_a_failure() {
    let of = |program: &str| {
        PdfProcesses::new(WorkerCommand { program: program.into(), arguments: Vec::new() }, 1)
    };
    assert_eq!(of("/nowhere/to/be/found").read(PLAIN).await, Err(PdfFailure::NoProcess));
    assert_eq!(of("/bin/false").read(PLAIN).await, Err(PdfFailure::Unreadable));
}

/// The second one waits for the place of the first, and gets it when nobody waits for the first any more.
#[tokio::test]
async fn pdfs_wait_for_a_place() {
    let processes = processes(1);
    {
        let mut first = pin!(processes.read(BOMB));
        let mut second = pin!(processes.read(PLAIN));
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(first.as_mut().poll(&mut cx), Poll::Pending);
        assert_eq!(second.as_mut().poll(&mut cx), Poll::Pending);
    }
    assert!(processes.read(PLAIN).await.is_ok());
}
